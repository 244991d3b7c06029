"""A field that holds a reference holds a path of a machine or a file address.

Why: a reference has to lead somewhere for everybody; a local path leads nowhere, and tells whose machine it was.
Trips: tool.result whose output_ref is a file address.  Near miss: an output_ref that is a key of the output store.
Fix: Put the thing into the store that owns it, and refer to it by that store's key.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, leakless

CLAUSES = {
    "agent-runtime": ("RED-2",),
    "agenthub": ("AH-132",),
    "runagents": ("RA-135",),
    "agent-threads": ("AT-112",),
}


@rule("RED011", "local-path-as-reference", clauses=CLAUSES, on=TOLD, needs=(Leaks,), quiet=leakless)
def check(step, world, context):
    survey = world.ledger(Leaks).of(step, context)
    if "reference" in survey.places:
        yield seen()
    for leak in survey.leaks:
        if leak.kind == "path" and leak.place == "reference":
            yield finding(step, "a reference that others can follow", leak.text, pointer=leak.pointer, key=leak.row)
