"""A task was completed although a criterion that its owner set does not hold.

Why: completion is where the owner's criteria count; one that failed or is open means that the work is not done.
Trips: task.completed lists a criterion as failed.  Near miss: the failed criterion is listed as passed by then.
Fix: Settle the criterion first, or end the task as failed.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._criteria import Criteria, listed
from validator.rules.terminal._work import ends, lines

OPEN = ("failed", "pending", "blocked")
DOUBT = ("unknown", "unavailable", "stale")


@rule(
    "TRM008",
    "completed-against-criteria",
    clauses={"agent-runtime": ("TASK-34", "TASK-35")},
    on="task.completed",
    needs=(Criteria,),
)
def check(step, world, context):
    for move in ends(world, step, "task"):
        task = world.subjects("task")[move.subject]
        about = {"entity": ("task", move.subject), "state": move.source, "witness": lines(task)}
        criteria, before = listed(step), world.ledger(Criteria).before
        if criteria is None:
            if before is None:
                continue
            line, criteria = before
            yield seen("TASK-34")
            if any(entry.get("status") == "failed" for entry in criteria):
                about["witness"] += (line,)
                expected = "a list that shows the failed criterion as settled"
                yield finding(step, expected, "no list", clause="TASK-34", key="no list", **about)
            continue
        yield seen("TASK-34", "TASK-35")
        for index, entry in enumerate(criteria):
            status = entry.get("status")
            pointer = f"/payload/acceptance/{index}/status"
            if status in OPEN:
                expected = "no criterion failed, pending or blocked"
                yield finding(step, expected, status, pointer=pointer, clause="TASK-34", key=status, **about)
            elif status in DOUBT:
                expected = "criteria of which it is known how they stand"
                yield finding(step, expected, status, pointer=pointer, clause="TASK-35", key=status, **about)
