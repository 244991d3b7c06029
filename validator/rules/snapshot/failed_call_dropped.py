"""A snapshot leaves out a tool call that failed.

Why: a failure that is not listed did not happen for whoever reads the thread; the next step builds on it.
Trips: tool.failed, then a thread_read_model whose tool_calls does not have the call.
Near miss: the snapshot lists the call with its error.
Fix: Keep failed, denied and timed-out calls in the list, also when their turn has left the view.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._owners import CALL, NEEDS, WAKES, compared, fault, owned


@rule("SNP004", "failed-call-dropped", clauses={"agent-runtime": ("RM-13", "RM-16")}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        claim, entries = found.claim, owned(found, CALL)
        if claim.model != "thread_read_model" or not isinstance(claim.document.get("tool_calls"), list):
            continue
        before = world.ledger(Claims).earlier.get(claim.key)
        yield seen("RM-13", *(["RM-16"] if before else ()))
        if entries:
            lost = before is not None and entries[0].entity[1] in before.listed
            yield fault(step, world, found, entries, "RM-16" if lost else "RM-13")
