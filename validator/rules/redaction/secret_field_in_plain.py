"""A field whose name says that it holds a secret holds plain text.

Why: whatever the value is, somebody named the field for a secret and then showed what is in it.
Trips: arguments with a password in plain text.  Near miss: the same field with a marker, or with a reference.
Fix: Put a marker, a reference or an honest value in its place.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, CredentialActions, Leaks, leakless, owned

CLAUSES = {"agent-runtime": "RED-12", "agenthub": "AH-130", "runagents": "RA-131", "agent-threads": "AT-111"}


@rule("RED012", "secret-field-in-plain", clauses=CLAUSES, on=TOLD, needs=(Leaks, CredentialActions), quiet=leakless)
def check(step, world, context):
    survey = world.ledger(Leaks).of(step, context)
    if survey.places:
        yield seen()
    for leak in survey.leaks:
        if leak.kind == "named" and not owned(leak, step, world):
            expected = "a marker, a reference or an honest value"
            yield finding(step, expected, leak.text, pointer=leak.pointer, key=leak.row)
