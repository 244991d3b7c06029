"""A tool result answers a call that the run never made.

Why: a reader who inspects what the runtime did sees an outcome and not the act.
Trips: run.tool.result with a callId that no run.tool.call of the run has.  Near miss: the call, then its result.
Fix: Emit run.tool.call first and repeat its callId in the result.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved, whole


@rule("AHB006", "result-without-call", clauses={"agenthub": "AH-34"}, on="run.tool.result", needs=(Runs,))
def check(step, world, context):
    if "call_id" not in step.scope or not whole(world, step) or moved(step) is None:
        return
    yield seen()
    if step.scope["call_id"] not in world.ledger(Runs).of(step).called:
        yield finding(
            step,
            "the callId of a call of this run",
            "no such call",
            pointer="/payload/callId",
            entity=entity(step),
            witness=history(world, step),
        )
