"""A session is created a second time.

Why: a consumer that sets up a session anew drops what it had of it.
Trips: session.created for s1 under two event ids.  Near miss: the same event is delivered twice.
Fix: Create a session once; what changes about it later is told by session.updated.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._parents import Identities


@rule(
    "IDN015",
    "session-created-twice",
    clauses={"agent-runtime": "SES-1"},
    on=("session.created", "repeat"),
    needs=(Identities,),
)
def check(step, world, context):
    if step.type != "session.created":
        return
    ids = world.ledger(Identities)
    yield seen()
    if step.repeats is None and ids.again is not None:
        session = step.scope.get("session_id", "")
        yield finding(
            step,
            "session.created once",
            "a second one",
            pointer="/session_id",
            entity=("session", session),
            witness=(ids.again,),
            key="twice",
        )
