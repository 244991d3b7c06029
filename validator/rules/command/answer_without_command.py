"""An answer names a command that was not sent, or another command than the one it answers.

Why: an answer that cannot be joined to its command answers nothing.
Trips: a result line for respond_action under the command_id of a submit_turn.  Near miss: both name submit_turn.
Fix: Copy command and command_id from the command to its result.
"""

from validator.rules import finding, rule, seen
from validator.rules.command._commands import Commands


@rule("CMD003", "answer-without-command", clauses={"agent-runtime": "CONF-20"}, on="record:result", needs=(Commands,))
def check(step, world, context):
    commands, key = world.ledger(Commands), step.line.get("command_id")
    if not isinstance(key, str):
        return
    sent = commands.sent.get(key)
    if key in commands.let_go:
        return  # a second answer, after so long
    if sent is None:
        first = world.midway(step) or world.unproved(step) is not None or not commands.sent
        if not first:
            witness = (next(iter(commands.sent.values())).line,)
            yield _finding(step, "a command with this command_id above", "no such command", "/command_id", witness)
        return
    yield seen()
    if step.line.get("command") != sent.name:
        yield _finding(step, f"an answer to {sent.name}", "another command is named", "/command", (sent.line,))


def _finding(step, expected, actual, pointer, witness):
    return finding(step, expected, actual, pointer=pointer, witness=witness, key=actual)
