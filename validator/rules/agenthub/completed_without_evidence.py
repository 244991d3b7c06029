"""A run completed although its stream shows nothing that the runtime did.

Why: a reader takes Completed for work that was done, and there is no message, tool, file or artifact event to show it.
Trips: run.started, then run.completed.  Near miss: the same run, marked degraded with a reason.
Fix: Emit what the runtime does; where it cannot, mark run.completed as degraded with a specific reason, or end as
failed.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved, payload, whole


@rule("AHB008", "completed-without-evidence", clauses={"agenthub": "AH-49"}, on="run.completed", needs=(Runs,))
def check(step, world, context):
    if moved(step) is None or not whole(world, step):
        return
    yield seen()
    if world.ledger(Runs).of(step).evidence is None and payload(step).get("degraded") is not True:
        yield finding(
            step,
            "a message, tool, file or artifact event, or degraded",
            "no such event since the start",
            pointer="/payload/degraded" if "degraded" in payload(step) else "/payload",
            entity=entity(step),
            witness=history(world, step),
        )
