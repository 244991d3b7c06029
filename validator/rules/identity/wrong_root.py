"""The root that a task names is not the end of its chain of parents.

Why: a tree that is collected by its root lacks the task, and another tree has it.
Trips: t3 below t2 below t1, and t3 names t2 as root.  Near miss: t3 names t1 as root.
Fix: Take the root from the parent when a task is created.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._parents import Tasks


@rule("IDN003", "wrong-root", clauses={"agent-runtime": "ID-23"}, on="task.*", needs=(Tasks,))
def check(step, world, context):
    tasks = world.ledger(Tasks)
    task, root = step.scope.get("task_id"), step.scope.get("root_task_id")
    if task is None or root is None:
        return
    chain, lines = tasks.chain(task)
    end = chain[-1]
    if end in chain[:-1] or (root not in chain and end not in tasks.top):
        return
    if root == end:
        yield seen()
        return
    told = tasks.top.get(end)
    yield finding(
        step,
        f"{end}, where the chain of parents ends",
        f"{root}",
        pointer="/root_task_id",
        entity=("task", task),
        witness=tuple(lines) + ((told,) if told else ()),
        key="root",
    )
