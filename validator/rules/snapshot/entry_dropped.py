"""A list in a snapshot lacks an entry that has not left it.

Why: a list that is stated is read as the whole of it; what is missing there is taken to be gone.
Trips: two artifacts were changed, and the artifact_checkpoint_summary lists one.
Near miss: the second was told to be deleted, and the summary lists the other.
Fix: List every entry until the table of the read model says that it leaves, or leave the list out.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._clauses import MODEL_CLAUSES
from validator.rules.snapshot._owners import ENTRY, NEEDS, WAKES, compared, fault, owned, restarted

LISTING = {name: MODEL_CLAUSES[name] for name in MODEL_CLAUSES if MODEL_CLAUSES[name] not in {"RM-42", "RM-41"}}
CLAUSES = ("RM-32", "RM-9", "TASK-42", "CTL-61", *LISTING.values())


@rule("SNP007", "entry-dropped", clauses={"agent-runtime": CLAUSES}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        document, entries = found.claim.document, owned(found, ENTRY)
        if not any(isinstance(value, list) for value in document.values()):
            continue
        again = restarted(world, found) and found.claim.model == "task_snapshot"
        empty = any(value == [] for value in document.values())
        yield seen("RM-32", *(["RM-9"] if empty else ()), *(["TASK-42"] if again else ()))
        if entries:
            yield fault(step, world, found, entries, _clause(found, entries[0], again))


def _clause(found, entry, again):
    if again and entry.entity and entry.entity[0] == "task_id":
        return "TASK-42"
    if len(entry.path) == 1 and found.claim.document.get(entry.path[0]) == []:
        return "RM-9"
    if found.claim.source == "result":
        return "CTL-61"
    return LISTING.get(found.claim.model, "RM-32") if len(entry.path) == 1 else "RM-32"
