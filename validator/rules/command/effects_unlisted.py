"""An accepted command wrote events before its answer, and the answer lists none.

Why: the caller has to guess which of the next events are its own.
Trips: create_task writes task.created, and its answer has no event_ids.  Near miss: the answer lists the event.
Fix: List in event_ids what was written so far.
"""

from validator.rules import finding, rule, seen
from validator.rules.command._commands import Commands


@rule("CMD015", "effects-unlisted", clauses={"agent-runtime": "CTL-59"}, on="record:result", needs=(Commands,))
def check(step, world, context):
    sent = world.ledger(Commands).current
    if (
        sent is None
        or sent.outcome != "accepted"
        or not sent.told
        or sent.definition is None
        or not sent.definition.mutates
    ):
        return
    yield seen()
    if sent.result.get("event_ids") is None:
        yield finding(
            step,
            "event_ids",
            "none, after events were written",
            pointer="/result",
            entity=("command", sent.key),
            witness=(sent.line, sent.first.line),
            key=sent.name,
        )
