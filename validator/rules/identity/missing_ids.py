"""An event lacks an id of its session, thread, turn or step although there is one.

Why: without it the event cannot be shown where it belongs, and nobody may guess by time or by text.
Trips: tool.started without turn_id while a turn is open; told once per type.  Near miss: an honest value in its place.
Fix: Write the ids that the table of the envelope lists for the family, or say honestly why there is none.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._naming import containers
from validator.rules.identity._parents import Identities, ordinary, stated

CLAUSES = {"agent-runtime": ("ENV-26", "ENV-27"), "agenthub": ("AH-8",)}


@rule("IDN004", "missing-ids", clauses=CLAUSES, needs=(Identities,), quiet=ordinary)
def check(step, world, context):
    protocol, ids = world.protocol, world.ledger(Identities)
    wanted = ids.naming.wanted
    for name in wanted:
        if stated(step, name) or protocol.lens.get(step.line, name) is not None:
            yield seen(CLAUSES[protocol.name][0])
            continue
        line = ids.applies(step, name) if protocol.name == "agent-runtime" else step.number
        # What an earlier event has settled for the same subject may be left out.
        if line is None or _settled(step, world, name) or not ids.first(step.type, name):
            continue
        yield finding(step, f"{name}, or an honest value", "none", witness=(line,), key=f"no {name}")
    # An event that names its turn or thread names what that is part of, whatever its family.
    for name, inner in containers(step, world, wanted):
        yield seen("ENV-27")
        if not stated(step, name) and not _settled(step, world, name) and ids.first(step.type, name):
            expected = f"{name} of the {inner.machine}"
            witness = tuple(inner.history)
            yield finding(step, expected, "none", clause="ENV-27", witness=witness, key=f"no {name}")


def _settled(step, world, name):
    return any(name in world.subjects(move.machine)[move.subject].scope for move in step.moves)
