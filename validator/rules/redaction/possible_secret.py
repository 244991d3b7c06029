"""A string looks random enough to be a secret, and nothing says that it is an id or a digest.

Why: a credential of an unknown kind is still a credential; where a payload has to be recognised, a hash does it.
Trips: data whose note is forty random letters and digits.  Near miss: data with a digest in hexadecimal.
Fix: Replace it by a hash or a reference, or name the field for the id that it holds.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, CredentialActions, Leaks, leakless, owned

CLAUSES = {"agent-runtime": "RED-31", "agenthub": "AH-135", "runagents": "RA-132", "agent-threads": "AT-116"}


@rule("RED004", "possible-secret", clauses=CLAUSES, on=TOLD, needs=(Leaks, CredentialActions), quiet=leakless)
def check(step, world, context):
    survey = world.ledger(Leaks).of(step, context)
    if survey.places & {"text", "tool"}:
        yield seen()
    for leak in survey.leaks:
        if leak.kind == "entropy" and not owned(leak, step, world):
            yield finding(step, "a hash, a reference or an id", leak.text, pointer=leak.pointer, key=leak.row)
