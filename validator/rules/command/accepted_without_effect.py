"""A command was accepted, and none of the events it writes followed.

Why: the caller was told that it is done, and every other reader of the stream knows nothing of it.
Trips: remove_queued_turn is accepted, and no queue.changed removes the turn.
Near miss: queue.changed with the operation removed follows.
Fix: Write the event of the command, or answer no_op or rejected.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import Commands, came_to_rest, history, went_on
from validator.rules.command._impossible import is_impossible
from validator.rules.command._sent import DONE, SUBJECTS
from validator.rules.governance._questions import Questions


def _writers():
    """The clause of every command that changes something, after the general ones."""
    from validator.protocol.protocol import load_protocol

    commands = load_protocol("agent-runtime").commands.values()
    return ("CTL-63", "CTL-2", *sorted({command.clause for command in commands if command.mutates and command.writes}))


@rule("CMD007", "accepted-without-effect", clauses={"agent-runtime": _writers()}, on=END, needs=(Commands, Questions))
def check(step, world, context):
    commands = world.ledger(Commands)
    for sent in commands.sent.values():
        definition = sent.definition
        if definition is None or not definition.mutates or not definition.writes or sent.outcome not in DONE:
            continue
        if sent.first is not None:
            yield seen("CTL-63", "CTL-2", definition.clause)
        elif _has_none(world, context, sent):
            yield Finding(
                sent.answered,
                f"one of the events that {sent.name} writes",
                "none by the end of the capture",
                clause=definition.clause,
                entity=("command", sent.key),
                witness=(sent.line, *history(world, sent), *went_on(commands, sent.answered)),
                key=sent.name,
            )


def _has_none(world, context, sent):
    if sent.repeats or sent.may_repeat or _unknown(world, sent) or is_impossible(sent, world):
        return False  # to accept what could not be done is a fault of its own (CMD011)
    return came_to_rest(world, context, sent, sent.answered)


def _unknown(world, sent):
    """True when nothing ever introduced the subject; to accept that is a fault of its own too."""
    name, machine = SUBJECTS.get(sent.name, ("", ""))
    return isinstance(sent.request.get(name), str) and world.state(machine, sent.request[name]) is None
