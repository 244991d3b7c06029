"""A task is made its own ancestor.

Why: a consumer that walks up to the root never arrives, and cancelling the tree never ends.
Trips: task t1 below t2, and t2 below t1.  Near miss: t3 below t2, and t2 below t1.
Fix: Refuse a parent that is the task itself or one of its descendants.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._parents import Tasks


@rule("IDN002", "own-ancestor", clauses={"agent-runtime": "ID-22"}, on="task.*", needs=(Tasks,))
def check(step, world, context):
    tasks, task = world.ledger(Tasks), step.scope.get("task_id")
    # Only the event that draws the edge is judged, not every later one that repeats it.
    if task is None or tasks.parent.get(task, ("", 0))[1] != step.number:
        return
    # A task that nobody calls a parent closes no circle.
    chain, lines = tasks.chain(task) if task in tasks.parents else ([], [])
    if chain[-1:] != [task]:
        yield seen()
        return
    yield finding(
        step,
        "a parent that is not below the task",
        "a circle of one" if len(chain) == 2 else f"a circle of {len(chain) - 1} tasks",
        pointer="/parent_task_id",
        entity=("task", task),
        witness=tuple(lines),
        key="circle",
    )
