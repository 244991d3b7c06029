"""A snapshot leaves out an action that waits for an answer.

Why: the question is asked nowhere else; whoever opens the thread sees nothing to decide and waits for ever.
Trips: action.required, then a thread_read_model whose pending_requests is empty.
Near miss: action.required and action.resolved, then the same snapshot.
Fix: List every pending and offered action until an event resolves it, across restarts and repairs.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._owners import ACTION, NEEDS, WAKES, compared, fault, owned, restarted

LISTS = ("pending_requests", "pending_approvals")


@rule(
    "SNP003",
    "action-dropped",
    clauses={"agent-runtime": ("RM-12", "RM-16", "RM-48", "ACT-20")},
    on=WAKES,
    needs=NEEDS,
)
def check(step, world, context):
    for found in compared(step, world, context):
        claim, entries = found.claim, owned(found, ACTION)
        if not any(isinstance(claim.document.get(name), list) for name in LISTS):
            continue
        before = world.ledger(Claims).earlier.get(claim.key)
        own = "RM-12" if claim.model == "thread_read_model" else "RM-48"
        yield seen(own, *(["ACT-20"] if restarted(world, found) else ()), *(["RM-16"] if before else ()))
        if entries:
            lost = before is not None and entries[0].entity[1] in before.listed
            clause = "ACT-20" if restarted(world, found) else "RM-16" if lost else own
            yield fault(step, world, found, entries, clause)
