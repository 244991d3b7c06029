"""An idempotency key was used for other content, and the command was not rejected.

Why: the caller believes that both were done, and the runtime that one of them was a repetition.
Trips: two create_task with one key and two objectives, both accepted.  Near miss: the second is rejected.
Fix: Reject a known key with other content.
"""

from validator.rules import finding, rule, seen
from validator.rules.command._commands import Commands
from validator.rules.governance._said import shown


@rule("CMD010", "key-used-again", clauses={"agent-runtime": "CTL-57"}, on="record:result", needs=(Commands,))
def check(step, world, context):
    sent = world.ledger(Commands).current
    if sent is None or sent.clashes is None or sent.outcome in {None, "unavailable"}:
        return
    yield seen()
    if sent.outcome != "rejected":
        yield finding(
            step,
            "rejected",
            shown(sent.outcome),
            pointer="/result/outcome",
            entity=("command", sent.key),
            witness=(sent.clashes.line, sent.line),
            key=sent.name,
        )
