"""A task was completed while work it handed on was still open.

Why: somebody is still working on what is said to be done, and may yet change it.
Trips: task.delegated to a job, then task.completed of the parent.  Near miss: the job is completed before its task.
Fix: Let children end, or cancel them, before the parent is completed.
"""

from validator.rules import finding, rule, seen
from validator.rules._words import one
from validator.rules.terminal._work import Children, ends, lines


@rule(
    "TRM005",
    "completed-with-open-children",
    clauses={"agent-runtime": "DONE-13"},
    on="task.completed",
    needs=(Children,),
)
def check(step, world, context):
    children = world.ledger(Children)
    for move in ends(world, step, "task"):
        if children.below.get(move.subject):
            yield seen()
        for child, line in children.open(move.subject, "task", "subagent", "job"):
            yield finding(
                step,
                "every child that the task delegated to over or lost",
                f"{one(child.machine)} is {child.state}",
                entity=("task", move.subject),
                state=move.source,
                witness=(*lines(world.subjects("task")[move.subject], child), line),
                key=child.machine,
            )
