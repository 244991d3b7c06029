"""A command got no answer.

Why: the caller does not know whether to wait, to repeat or to give up.
Trips: two commands are sent, and only the second is answered.  Near miss: both are answered.
Fix: Answer every command with one outcome, rejected and unavailable included.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import Commands, came_to_rest, went_on


@rule("CMD001", "unanswered-command", clauses={"agent-runtime": "CTL-3"}, on=END, needs=(Commands,))
def check(step, world, context):
    commands = world.ledger(Commands)
    if not commands.last_answer:
        return  # a recorder that keeps no answers shows nothing about them
    for sent in commands.sent.values():
        if sent.answered is not None:
            yield seen()
        elif came_to_rest(world, context, sent, sent.line) and sent.definition:
            yield Finding(
                sent.line,
                "one answer",
                "none by the end of the capture",
                entity=("command", sent.key),
                witness=went_on(commands, sent.line) or _other(commands),
                key=sent.name,
            )


def _other(commands):
    """A command with its answer, which shows that answers are recorded."""
    answered = [sent for sent in commands.sent.values() if sent.answered]
    return (answered[-1].line, answered[-1].answered) if answered else (commands.last_answer,)
