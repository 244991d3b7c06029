"""A later snapshot claims a lower sequence than an earlier one of the same model and scope.

Why: a consumer keeps the newest document it was given; an older one that comes later undoes what it had learnt.
Trips: a queue_snapshot says that it reflects 3, and the next one of that thread says 2.
Near miss: the next one says 3 again.
Fix: Serve documents in the order in which they were built, and drop one that is older than the last one served.
"""

from validator.rules import finding, rule, seen
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._owners import WAKES, scope_of


@rule("SNP011", "claim-goes-back", clauses={"agent-runtime": "RM-8"}, on=WAKES, needs=(Claims,))
def check(step, world, context):
    claims = world.ledger(Claims)
    for claim in claims.now:
        before = claims.earlier.get(claim.key)
        if before is None or before.sequence is None or claim.sequence is None or claim.session is None:
            continue
        yield seen()
        if claim.sequence < before.sequence:
            yield finding(
                step,
                f"at least {before.sequence}",
                str(claim.sequence),
                pointer=claim.pointer,
                entity=scope_of(claim),
                witness=(before.highest,),
                key=claim.model,
            )
