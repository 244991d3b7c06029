"""The end of a run is put down to a decision that nobody made.

Why: approval_rejected sends the user to a reviewer; when no reviewer refused anything, the real cause stays hidden.
Trips: run.failed with the code approval_rejected while the approval is pending.
Near miss: the approval was rejected before.
Fix: Use approval_rejected after a rejection only; report a lapse as approval_cancelled and any other cause by its own
code.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, decided, entity, history, moved, payload, whole, word


@rule(
    "AHB022",
    "decision-never-made",
    clauses={"agenthub": ("AH-114", "AH-46")},
    on=("run.failed", "run.cancelled"),
    needs=(Runs,),
)
def check(step, world, context):
    field, clause = ("code", "AH-114") if step.type == "run.failed" else ("reason", "AH-46")
    reason = word(payload(step), field)
    if reason not in {"approval_rejected", "approval_cancelled"} or moved(step) is None or not whole(world, step):
        return
    yield seen(clause)
    decision = reason.removeprefix("approval_")
    asked = world.ledger(Runs).asked(step.scope["run_id"]).all
    if not any(world.state("approval", approval.approval_id) == decision for approval in asked):
        lines = tuple(line for approval in asked for line in decided(world, approval))
        yield finding(
            step,
            f"an approval of the run that was {decision}",
            "there is none",
            pointer=f"/payload/{field}",
            clause=clause,
            entity=entity(step),
            witness=(*history(world, step), *lines),
            key=reason,
        )
