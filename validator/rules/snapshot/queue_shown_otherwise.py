"""A snapshot shows another queue than the changes of the queue leave.

Why: people decide by what they see waiting; a turn that is shown there and gone, or gone and still due, misleads them.
Trips: a queued turn is started, and the queue_snapshot still lists it.
Near miss: the queue_snapshot lists the turns that are left, in the order of the changes.
Fix: Derive the queue from queue.changed alone, keep it across restarts, and never put back what has left.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._owners import NEEDS, QUEUE, WAKES, compared, fault, owned, restarted

LISTS = ("queued_turns", "queued_turn_ids", "items")
GONE = ("started", "removed")


@rule(
    "SNP008",
    "queue-shown-otherwise",
    clauses={"agent-runtime": ("RM-42", "RM-34", "RM-36", "QUE-10", "QUE-11")},
    on=WAKES,
    needs=NEEDS,
)
def check(step, world, context):
    for found in compared(step, world, context):
        claim, entries = found.claim, owned(found, QUEUE)
        if claim.model not in {"queue_snapshot", "thread_read_model"}:
            continue
        if not any(isinstance(claim.document.get(name), list) for name in LISTS):
            continue
        own = "RM-42" if claim.model == "queue_snapshot" else "RM-36"
        told = claim.scope.get("thread_id") in world.ledger(Claims).whole_queues
        again = restarted(world, found)
        yield seen(own, "QUE-10", *(["RM-34"] if told else ()), *(["QUE-11"] if again else ()))
        if entries:
            back = _is_back(found, entries[0])
            clause = "QUE-10" if back else "QUE-11" if again else "RM-34" if told else own
            yield fault(step, world, found, entries, clause)


def _is_back(found, entry):
    """True when a turn is shown as waiting that had left the queue."""
    if entry.kind != "more":
        return False
    shown = found.claim.document.get(entry.path[0])
    item = shown[int(entry.path[1])] if isinstance(shown, list) and len(entry.path) > 1 else None
    key = item.get("queued_turn_id") if isinstance(item, dict) else item
    return found.past.state("queue", key) in GONE
