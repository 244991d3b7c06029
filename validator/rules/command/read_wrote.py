"""A command that only reads wrote an event.

Why: a screen that is refreshed must not move the work it shows.
Trips: get_session answers with event_ids that list a turn.started.
Near miss: it lists the history.window.loaded that it may write.
Fix: Let reads answer from read models; what they may write is what they loaded or resolved.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import Commands


def _reads():
    """The clauses of the core's reading commands, after the general one."""
    from validator.protocol.protocol import load_protocol

    commands = load_protocol("agent-runtime").commands.values()
    return ("CTL-8", *sorted({command.clause for command in commands if not command.mutates}))


@rule("CMD005", "read-wrote", clauses={"agent-runtime": _reads()}, on=END, needs=(Commands,))
def check(step, world, context):
    commands = world.ledger(Commands)
    for sent in commands.sent.values():
        if sent.definition is None or sent.definition.mutates or sent.answered is None:
            continue
        yield seen("CTL-8", sent.definition.clause)
        for index, key in enumerate(sent.listed):
            line, kind = commands.event(key)
            if line and kind not in sent.definition.writes:
                yield Finding(
                    sent.answered,
                    "a read that moves nothing",
                    f"it wrote {kind if kind in world.protocol.events else 'a vendor event'}",
                    pointer=f"/result/event_ids/{index}",
                    clause=sent.definition.clause,
                    entity=("command", sent.key),
                    witness=(sent.line, line),
                    key=sent.name,
                )
                break
