"""A subject is seen under another parent than before.

Why: whatever was filed under the first parent cannot be found from the second, and access is decided by the wrong one.
Trips: a turn in thread h1, then the same turn in thread h2.  Near miss: two turns, one in each thread.
Fix: Keep the parent with the subject, and read it from there for every event; a new parent needs a new subject.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._parents import PAIRS, Parents

CLAUSES = {"agent-runtime": tuple(dict.fromkeys(pair.clause for pair in PAIRS))}


def unchanged(step, world, context):
    """The key of an event that names the parents it named before: the clauses that say so."""
    parents = world.ledger(Parents)
    return None if parents.conflicts else tuple([pair.clause for pair in parents.met])


@rule("IDN001", "parent-changed", clauses=CLAUSES, needs=(Parents,), quiet=unchanged)
def check(step, world, context):
    parents = world.ledger(Parents)
    for pair in parents.met:
        yield seen(pair.clause)
    for conflict in parents.conflicts:
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
