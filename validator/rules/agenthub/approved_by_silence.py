"""An approval was granted by nobody: the request had lapsed, or its reason says that no one answered.

Why: who does not answer has not agreed, and the risky action goes ahead on the strength of a clock.
Trips: approved after expiresAt with no basis told.
Near miss: approved before expiresAt; or the lapsed request is cancelled.
Fix: Resolve a request that lapsed as cancelled; approve only on an explicit act and say so in `basis`.
"""

from validator.protocol.formats import instant
from validator.rules import finding, rule, seen
from validator.rules.agenthub._phrases import by_silence
from validator.rules.agenthub._runs import Runs, history, payload


@rule("AHB011", "approved-by-silence", clauses={"agenthub": "AH-75"}, on="run.approval.resolved", needs=(Runs,))
def check(step, world, context):
    told = payload(step)
    if told.get("decision") != "approved" or told.get("basis") == "timeout":
        return
    yield seen()
    approval = world.ledger(Runs).approvals.get(step.scope.get("approval_id", ""))
    entity = ("approval", step.scope.get("approval_id", ""))
    if by_silence(told.get("reason")):
        actual = "the reason says that nobody did"
        yield finding(
            step, "an explicit act of the actor", actual, pointer="/payload/reason", entity=entity, key="reason"
        )
    elif approval is not None and "basis" not in told and _lapsed(approval.request, step.line):
        witness = (*history(world, step), approval.line)
        actual = "approved after the request had lapsed, on no stated basis"
        yield finding(
            step, "cancelled", actual, pointer="/payload/decision", entity=entity, witness=witness, key="lapsed"
        )


def _lapsed(request, line):
    """True when the decision came at or after the time at which the request lapses."""
    limit, at = instant(request.get("expiresAt")), instant(line.get("timestamp"))
    return limit is not None and at is not None and at >= limit
