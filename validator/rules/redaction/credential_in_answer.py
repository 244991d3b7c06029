"""The answer to a request for a credential holds the credential.

Why: the request exists so that the value goes another way; told in the answer, it stands in every copy of the stream.
Trips: a credential action resolved with an answer whose value is plain.  Near miss: an answer that refers to a store.
Fix: Hand the value to the store that owns it, and answer with its reference.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import CredentialActions, answers


@rule(
    "RED016",
    "credential-in-answer",
    clauses={"agent-runtime": "RED-14"},
    on="action.resolved",
    needs=(CredentialActions,),
)
def check(step, world, context):
    asked = world.ledger(CredentialActions).line
    if asked is None:
        return
    yield seen()
    for pointer in answers(step, world):
        entity = ("action", step.scope["action_id"])
        expected, actual = "a reference, or nothing", "a plain value for a credential"
        yield finding(step, expected, actual, pointer=pointer, entity=entity, witness=(asked,))
