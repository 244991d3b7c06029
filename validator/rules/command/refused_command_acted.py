"""A command that was refused, or had nothing to do, changed something.

Why: a caller who reads rejected tries another way, and then it happens twice.
Trips: submit_turn is rejected, and turn.submitted with its turn_id follows.
Near miss: write_process_stdin is unavailable, and the answer lists a runtime.warning.
Fix: Decide before writing; a refused command leaves at most a warning or a repair, a no_op leaves nothing.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import Commands
from validator.rules.command._sent import REFUSALS

MAY_FOLLOW = {"runtime.warning", "runtime.error", "snapshot.repaired"}


@rule("CMD004", "refused-command-acted", clauses={"agent-runtime": ("CTL-4", "CTL-56")}, on=END, needs=(Commands,))
def check(step, world, context):
    commands = world.ledger(Commands)
    for sent in commands.sent.values():
        if sent.outcome not in REFUSALS and sent.outcome != "no_op":
            continue
        clause = "CTL-56" if sent.outcome == "no_op" else "CTL-4"
        yield seen(clause)
        for index, key in enumerate(sent.listed):
            line, kind = commands.event(key)
            if line and (sent.outcome == "no_op" or kind not in MAY_FOLLOW):
                yield _finding(sent, clause, sent.answered, f"/result/event_ids/{index}", (sent.line, line))
                break
        else:
            if sent.outcome in REFUSALS and sent.created and not commands.created_by_another(sent):
                yield _finding(sent, clause, sent.created.line, "", (sent.line, sent.answered))


def _finding(sent, clause, line, pointer, witness):
    return Finding(
        line,
        f"nothing changed by a command answered {sent.outcome}",
        "an event that it wrote",
        pointer=pointer,
        clause=clause,
        entity=("command", sent.key),
        witness=witness,
        key=f"{sent.name} {sent.outcome}",
    )
