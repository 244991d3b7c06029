"""A field that holds a path holds one of somebody's machine.

Why: it names a user, a customer or a project, and a consumer on another host cannot open it.
Trips: process.started whose cwd is an absolute path.  Near miss: the same event with a path relative to the workspace.
Fix: Write the path relative to the workspace, or put a reference or an honest value in its place.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import AGENTHUB_REVIEW, TOLD, Leaks, leakless

CLAUSES = {
    "agent-runtime": ("RED-1", "RED-8"),
    "agenthub": ("AH-97", "AH-132"),
    "runagents": ("RA-133",),
    "agent-threads": ("AT-110",),
}


@rule("RED001", "private-path-in-path-field", clauses=CLAUSES, on=TOLD, needs=(Leaks,), quiet=leakless)
def check(step, world, context):
    survey = world.ledger(Leaks).of(step, context)
    if "path" in survey.places:
        yield seen(_clause(step, world))
    for leak in survey.leaks:
        if leak.kind == "path" and leak.place == "path":
            expected = "a path relative to the workspace"
            clause = _clause(step, world)
            yield finding(step, expected, leak.text, pointer=leak.pointer, clause=clause, key=leak.row)


def _clause(step, world):
    if world.protocol.name == "agenthub":
        return "AH-97" if step.type in AGENTHUB_REVIEW else "AH-132"
    if world.protocol.name == "agent-runtime":
        return "RED-8" if step.type == "sandbox.violation" else "RED-1"
    return CLAUSES[world.protocol.name][0]
