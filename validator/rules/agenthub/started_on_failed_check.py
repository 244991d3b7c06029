"""A run started while one of its checks stood at failed.

Why: the check exists to keep a run out of a workspace, a runtime or credentials it must not touch.
Trips: run.preparing with a failed allowlist check, then run.started.
Near miss: the check is repeated as passed before the start.
Fix: Fail the run with the code of the failed check, or report the check again once it has passed.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved


@rule("AHB005", "started-on-failed-check", clauses={"agenthub": "AH-32"}, on="run.started", needs=(Runs,))
def check(step, world, context):
    run = world.ledger(Runs).of(step)
    if run.checks is None or moved(step) is None:
        return
    yield seen()
    line = run.told["checks"]
    for name, outcome in run.checks.items():
        if isinstance(known(outcome), dict) and outcome.get("status") == "failed":
            yield finding(
                step,
                f"{name} passed before the start",
                "the check stands at failed",
                pointer=f"/payload/checks/{name}/status" if line == step.number else "",
                entity=entity(step),
                witness=(*history(world, step), line),
                key=name,
            )
