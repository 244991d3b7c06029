"""A call was made on an approval that had run out.

Why: a limit on time is part of what the operator agreed to.
Trips: APPROVED with expires_at 10:00, then TOOL_CALLED for the action at 10:05.
Near miss: TOOL_CALLED at 10:00, on the stroke of it.
Fix: Check expires_at before the call is replayed, and block it again when the time has passed.
"""

from validator.protocol.formats import instant
from validator.rules import finding, rule, seen
from validator.rules.runagents._facts import Actions, said_of_action, told


@rule("RAG021", "approval-after-expiry", clauses={"runagents": "RA-117"}, on="TOOL_*", needs=(Actions,))
def check(step, world, context):
    # An answer may come after the time; the call that asked for it may not.
    said = said_of_action(step)
    if not said or step.type == "TOOL_RESPONSE":
        return
    action = world.ledger(Actions).known[said["action"]]
    value, line = action.first.get("expires_at", (None, 0))
    limit, now = instant(value), instant(step.line.get("timestamp"))
    if limit is None or now is None:
        return
    yield seen()
    if now > limit:
        more = {"entity": ("blocked_action", said["action"]), "state": world.state("blocked_action", said["action"])}
        witness = (line, *told(world, said["action"]))
        expected = "a call before the approval ends"
        yield finding(step, expected, "a later one", pointer="/timestamp", witness=witness, key="late", **more)
