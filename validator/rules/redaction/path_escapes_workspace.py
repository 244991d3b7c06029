"""A path in a field that holds one has a parent step.

Why: consumers resolve paths against the workspace; a step up leads some of them out of it.
Trips: process.started whose cwd is the folder above.  Near miss: a cwd that holds two dots inside a name.
Fix: Resolve the path first, and write it relative to the workspace; what lies outside gets a reference.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, leakless


@rule("RED006", "path-escapes-workspace", clauses={"agent-runtime": "RED-1"}, on=TOLD, needs=(Leaks,), quiet=leakless)
def check(step, world, context):
    survey = world.ledger(Leaks).of(step, context)
    if "path" in survey.places:
        yield seen()
    for leak in survey.leaks:
        if leak.kind == "escape":
            yield finding(step, "a path without parent steps", "a parent step", pointer=leak.pointer, key=leak.row)
