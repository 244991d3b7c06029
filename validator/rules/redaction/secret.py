"""A string has the prefix or the structure of a known kind of secret.

Why: events are copied and kept; a key that stands in one has to be revoked, and nobody knows who has read it.
Trips: a preview that holds a token of a code host.  Near miss: the same preview with a marker in its place.
Fix: Replace it by a marker or a reference before the event is written, and revoke it.
"""

from validator.rules import rule
from validator.rules.redaction._leaks import TOLD, CredentialActions, Leaks, leakless, secrets_told

CLAUSES = {
    "agent-runtime": ("RED-9", "RED-14", "RED-24", "RED-26", "RED-29", "PROC-10", "HOOK-15"),
    "agenthub": ("AH-130", "AH-131"),
    "runagents": ("RA-131",),
    "agent-threads": ("AT-111",),
}


@rule("RED003", "secret", clauses=CLAUSES, on=TOLD, needs=(Leaks, CredentialActions), quiet=leakless)
def check(step, world, context):
    yield from secrets_told(step, world, context, "secret", "no secret")
