"""A command got a second answer.

Why: of two answers a caller believes the one it happens to read.
Trips: two result lines with one command_id.  Near miss: a repetition under its own command_id is answered too.
Fix: Answer once; later news about the work are events.
"""

from validator.rules import finding, rule, seen
from validator.rules.command._commands import Commands


@rule("CMD002", "answered-twice", clauses={"agent-runtime": "CTL-3"}, on="record:result", needs=(Commands,))
def check(step, world, context):
    sent = world.ledger(Commands).sent.get(str(step.line.get("command_id")))
    if sent is None or sent.answered is None:
        return
    yield seen()
    if sent.answered != step.number:
        yield finding(
            step,
            "one answer",
            "a second one",
            pointer="/command_id",
            entity=("command", sent.key),
            witness=(sent.line, sent.answered),
            key=sent.name,
        )
