"""Text, or a key, holds a path of somebody's machine.

Why: text is copied into logs, reports and chat windows; a home or temporary directory in it tells who ran it and where.
Trips: a message that names a file in a home directory.  Near miss: a message that names /usr/bin/env and /workspace.
Fix: Name the file by its path in the workspace, by its last segment, or by a reference.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, leakless

CLAUSES = {
    "agent-runtime": ("RED-4", "RED-5"),
    "agenthub": ("AH-132",),
    "runagents": ("RA-134",),
    "agent-threads": ("AT-110",),
}
_PLACES = ("text", "tool", "output")


@rule("RED002", "private-path-in-text", clauses=CLAUSES, on=TOLD, needs=(Leaks,), quiet=leakless)
def check(step, world, context):
    survey = world.ledger(Leaks).of(step, context)
    for clause in sorted({clause_of(world, place) for place in survey.places if place in _PLACES}):
        yield seen(clause)
    for leak in survey.leaks:
        if leak.kind == "path" and leak.place in _PLACES:
            clause = clause_of(world, leak.place)
            yield finding(step, "no path of a machine", leak.text, pointer=leak.pointer, clause=clause, key=leak.row)


def clause_of(world, place):
    """Free process output weighs less than other text in the core."""
    clauses = CLAUSES[world.protocol.name]
    return clauses[-1] if place == "output" else clauses[0]
