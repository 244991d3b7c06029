"""A run passed planning or preparing in silence and carries no evidence of it.

Why: nobody can tell under which policy the run works, or whether workspace, runtime and credentials were validated at
all.
Trips: run.created, then run.started with neither plan nor checks.
Near miss: run.started with the plan and the checks in it.
Fix: Emit run.planned and run.preparing, or put `plan` and `checks` into run.created or run.started.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved, whole


@rule("AHB003", "silent-phase-without-evidence", clauses={"agenthub": "AH-30"}, on="run.started", needs=(Runs,))
def check(step, world, context):
    if not whole(world, step) or moved(step) is None:
        return
    yield seen()
    told = world.ledger(Runs).of(step).told
    for name, event in (("plan", "run.planned"), ("checks", "run.preparing")):
        if name not in told and event not in told:
            yield finding(
                step,
                f"{event} before the start, or {name} told with it",
                f"no {name}",
                pointer="/payload",
                entity=entity(step),
                witness=history(world, step),
                key=name,
            )
