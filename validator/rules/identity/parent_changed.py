"""A subject is seen under another parent than before.

Why: whatever was filed under the first parent cannot be found from the second, and access is decided by the wrong one.
Trips: a turn in thread h1, then the same turn in thread h2.  Near miss: two turns, one in each thread.
Fix: Keep the parent with the subject, and read it from there for every event; a new parent needs a new subject.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._naming import PAIRS
from validator.rules.identity._parents import Identities, ordinary

CLAUSES = {"agent-runtime": tuple(dict.fromkeys(pair.clause for pair in PAIRS))}


@rule("IDN001", "parent-changed", clauses=CLAUSES, needs=(Identities,), quiet=ordinary)
def check(step, world, context):
    ids = world.ledger(Identities)
    for pair in ids.met:
        yield seen(pair.clause)
    for conflict in ids.conflicts:
        pair = conflict.pair
        kind = pair.child.removesuffix("_id")
        yield finding(
            step,
            f"{pair.parent} {conflict.settled}, as before",
            f"{conflict.parent}",
            pointer=f"/{pair.parent}",
            clause=pair.clause,
            entity=(kind, conflict.child),
            witness=(conflict.line, *conflict.began),
            key=f"{kind} {pair.parent}",
        )
