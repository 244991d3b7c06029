"""An answer lists an event that does not exist, stands above the command, or is not the command's to write.

Why: event_ids is how a caller finds what its command did; a wrong entry leads to somebody else's work.
Trips: submit_turn answers with event_ids that name no event of the stream.
Near miss: it names turn.submitted, which stands below the command.
Fix: List the events that the command itself wrote, after they were written.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import Commands, around, is_prefix
from validator.rules.command._sent import DONE
from validator.rules.terminal._work import unsure


@rule(
    "CMD006",
    "listed-event-wrong",
    clauses={"agent-runtime": ("CTL-60", "CTL-7", "CTL-62", "CTL-52")},
    on=END,
    needs=(Commands,),
)
def check(step, world, context):
    commands = world.ledger(Commands)
    for sent in commands.sent.values():
        if sent.answered is None or (sent.definition and not sent.definition.mutates) or sent.outcome not in DONE:
            continue
        if sent.name == "ack_events":
            yield seen("CTL-52")
            if sent.listed:
                yield _finding(sent, 0, "CTL-52", "no event", "an event is listed", ())
            continue
        for index, key in enumerate(sent.listed):
            yield from _judge(world, context, sent, index, key)


def _judge(world, context, sent, index, key):
    line, kind = world.ledger(Commands).event(key)
    if not line:
        if not is_prefix(world, context) and not unsure(world, around(world, sent)):
            yield _finding(sent, index, "CTL-60", "an event of the stream", "no such event", ())
        return
    yield seen("CTL-60", "CTL-7", "CTL-62")
    if line < sent.line:
        if sent.repeats is None and not sent.may_repeat:
            yield _finding(sent, index, "CTL-7", "an effect below the command", "it stands above it", (line,))
    elif sent.definition and kind not in sent.definition.writes and _moves(world, kind):
        yield _finding(sent, index, "CTL-62", f"an event that {sent.name} writes", kind, (line,))


def _moves(world, kind):
    return kind in world.protocol.events and kind not in world.protocol.informational


def _finding(sent, index, clause, expected, actual, lines):
    return Finding(
        sent.answered,
        expected,
        actual,
        pointer=f"/result/event_ids/{index}",
        clause=clause,
        entity=("command", sent.key),
        witness=(sent.line, *lines),
        key=f"{sent.name} {actual}",
    )
