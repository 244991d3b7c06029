"""An address holds a password, a token or a signature.

Why: whoever reads the event can use the address; that is what it is made for.
Trips: a database address with user and password.  Near miss: the same address without them.
Fix: Take the credential out of the address, and keep the whole one behind a reference.
"""

from validator.rules import rule
from validator.rules.redaction._leaks import TOLD, CredentialActions, Leaks, leakless, secrets_told
from validator.rules.redaction.secret import CLAUSES


@rule("RED009", "credentials-in-address", clauses=CLAUSES, on=TOLD, needs=(Leaks, CredentialActions), quiet=leakless)
def check(step, world, context):
    yield from secrets_told(step, world, context, "url", "an address without credentials")
