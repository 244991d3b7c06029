"""An address holds a password, a token or a signature.

Why: whoever reads the event can use the address; that is what it is made for.
Trips: a database address with user and password.  Near miss: the same address without them.
Fix: Take the credential out of the address, and keep the whole one behind a reference.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, CredentialActions, Leaks, clause_at, leakless, owned, secret_clauses
from validator.rules.redaction.secret import CLAUSES


@rule("RED009", "credentials-in-address", clauses=CLAUSES, on=TOLD, needs=(Leaks, CredentialActions), quiet=leakless)
def check(step, world, context):
    survey = world.ledger(Leaks).of(step, context)
    clauses = secret_clauses(step, world)
    if survey.places:
        yield seen(*sorted(set(clauses.values())))
    for leak in survey.leaks:
        if leak.kind == "url" and not owned(leak, step, world):
            expected, clause = "an address without credentials", clause_at(clauses, leak.pointer)
            yield finding(step, expected, leak.text, pointer=leak.pointer, clause=clause, key=leak.row)
