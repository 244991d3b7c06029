"""A task or a graph is shown without an edge that was told.

Why: an edge says why something waits and who began whom; without it work looks free to start or to belong to nobody.
Trips: task.dependency.updated links two tasks, and the task's relationships list is empty.
Near miss: the link was unlinked, and the list shows it with the status removed.
Fix: Keep every edge in the list; one that was unlinked keeps its place with the status removed.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._owners import EDGE, NEEDS, WAKES, compared, fault, owned, restarted

CLAUSES = ("ORC-6", "ORC-11", "TASK-42", "SUB-21")


@rule("SNP006", "edge-dropped", clauses={"agent-runtime": CLAUSES}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        if found.claim.model not in {"task_snapshot", "thread_read_model", "subagent_job_summary", "task"}:
            continue
        yield seen("ORC-6", *_also(world, found))
        entries = owned(found, EDGE)
        if entries:
            yield fault(step, world, found, entries, next(iter(_also(world, found, entries[0])), "ORC-6"))


def _also(world, found, entry=None):
    """Clauses beyond the general one: after a restart, and for tasks that were tried again."""
    if restarted(world, found):
        yield "SUB-21" if found.claim.model == "subagent_job_summary" else "TASK-42"
    if found.claim.model == "subagent_job_summary":
        return
    if entry is None:
        if any(len(record.get("attempts") or ()) > 1 for record in _tasks(found.expected, found.claim.document)):
            yield "ORC-11"
    elif entry.path[-1] == "relationships" and len(_holder(found, entry).get("attempts") or ()) > 1:
        yield "ORC-11"


def _tasks(document, shown):
    """The tasks of a document, as far as another shows their lists."""
    lists = (document.get(name) for name, value in shown.items() if isinstance(value, list))
    entries = (entry for value in lists if isinstance(value, list) for entry in value if isinstance(entry, dict))
    return [entry for entry in (*entries, document) if "relationships" in entry]


def _holder(found, entry):
    """The task that a list of edges stands in."""
    place = found.claim.document
    for step in entry.path[:-1]:
        place = place[int(step)] if isinstance(place, list) else place[step]
    known = {record.get("task_id"): record for record in _tasks(found.expected, dict(found.expected))}
    return known.get(place.get("task_id"), {})
