"""An event lacks an id of its session, thread, turn or step although there is one.

Why: without it the event cannot be shown where it belongs, and nobody may guess by time or by text.
Trips: tool.started without turn_id while a turn is open; told once per type.  Near miss: an honest value in its place.
Fix: Write the ids that the table of the envelope lists for the family, or say honestly why there is none.
"""

import functools

from validator.rules import finding, rule, seen
from validator.rules.identity._parents import Seats, stated

CLAUSES = {"agent-runtime": ("ENV-26", "ENV-27"), "agenthub": ("AH-8",)}
OWNERS = {"session_id", "thread_id"}
"""What an event that names its turn or thread names as well."""
JUDGED = {
    "agent-runtime": ("session_id", "thread_id", "turn_id", "step_id"),
    "agenthub": ("run_id",),
}


def all_told(step, world, context):
    """The key of an event that carries every id it is asked for: its type, and what it names its own owners by."""
    scope, wanted = step.scope, _wanted(world.protocol, step.type)
    if not wanted <= scope.keys():
        return None
    if wanted >= OWNERS:
        return step.type, ()
    owners = [(name, inner.machine) for name, inner in _owners(step, world, wanted)]
    return None if any(name not in scope for name, _ in owners) else (step.type, tuple(owners))


@functools.lru_cache(maxsize=1024)
def _wanted(protocol, kind):
    """The ids that an event of a type should carry, of those that are judged."""
    should = protocol.families.get(protocol.family_of.get(kind, ""), {}).get("carries", {}).get("should", ())
    return dict.fromkeys(name for name in should if name in JUDGED[protocol.name]).keys()


@rule("IDN004", "missing-ids", clauses=CLAUSES, needs=(Seats,), quiet=all_told)
def check(step, world, context):
    protocol, seats = world.protocol, world.ledger(Seats)
    wanted = _wanted(protocol, step.type)
    for name in wanted:
        if stated(step, name) or protocol.lens.get(step.line, name) is not None:
            yield seen(CLAUSES[protocol.name][0])
            continue
        line = seats.applies(step, name) if protocol.name == "agent-runtime" else step.number
        # What an earlier event has settled for the same subject may be left out.
        if line is None or _settled(step, world, name) or not seats.first(step.type, name):
            continue
        yield finding(step, f"{name}, or an honest value", "none", witness=(line,), key=f"no {name}")
    # An event that names its turn or thread names what that is part of, whatever its family.
    for name, inner in _owners(step, world, wanted):
        yield seen("ENV-27")
        if not stated(step, name) and not _settled(step, world, name) and world.ledger(Seats).first(step.type, name):
            expected = f"{name} of the {inner.machine}"
            witness = tuple(inner.history)
            yield finding(step, expected, "none", clause="ENV-27", witness=witness, key=f"no {name}")


def _owners(step, world, wanted):
    """The ids that the turn or thread of an event belongs to, beside those it is asked for anyway."""
    if world.protocol.name != "agent-runtime":
        return
    turn = world.subjects("turn").get(step.scope.get("turn_id", ""))
    thread = turn or world.subjects("thread").get(step.scope.get("thread_id", ""))
    for inner, name in ((turn, "thread_id"), (thread, "session_id")):
        if inner is not None and name in inner.scope and name not in wanted:
            yield name, inner


def _settled(step, world, name):
    return any(name in world.subjects(move.machine)[move.subject].scope for move in step.moves)
