"""A snapshot states something that no event supports.

Why: a value nobody told is a guess; shown beside facts it is taken for one of them.
Trips: one turn was submitted, and the thread_read_model lists two.
Near miss: the thread_read_model lists the one turn and leaves out what no event told.
Fix: Leave the field out, or give an honest value, until an event tells it.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._clauses import OCCURRENCES
from validator.rules.snapshot._owners import INVENTED, NEEDS, WAKES, compared, fault, owned

CLAUSES = ("RM-4", "RM-28", "RM-29", "EVI-4")


@rule("SNP002", "invented-value", clauses={"agent-runtime": CLAUSES}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        entries = owned(found, INVENTED)
        yield seen("RM-4")
        if found.claim.document.get("verification_outcomes"):
            yield seen("EVI-4")
        if entries:
            yield fault(step, world, found, entries, _clause(world, found.claim, entries[0]))


def _clause(world, claim, entry):
    if "verification_outcomes" in entry.names:
        return "EVI-4"
    if claim.session in world.ledger(Claims).repeated and entry.names[0] in OCCURRENCES:
        return "RM-28"
    return "RM-4" if entry.path[-1].isdigit() or entry.names[-1] == "status" else "RM-29"
