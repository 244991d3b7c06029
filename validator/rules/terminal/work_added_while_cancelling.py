"""Child work was added below a task that is being cancelled.

Why: cancelling a busy tree never ends when it keeps growing.
Trips: task.cancel_requested, then subagent.spawned for the task.  Near miss: a subagent of another task is spawned.
Fix: Refuse delegations, child tasks, subagents and jobs of a task from its task.cancel_requested on.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import Children, lines, told

ADDS = ("task.delegated", "task.created", "subagent.spawned", "job.created")


def _parent(step):
    if step.type == "task.created":
        return step.scope.get("parent_task_id")
    if step.type == "subagent.spawned":
        return told(step, "parent_task_id") or step.scope.get("task_id")
    return step.scope.get("task_id")


@rule(
    "TRM012",
    "work-added-while-cancelling",
    clauses={"agent-runtime": "ORC-8"},
    on=ADDS,
    needs=(Children,),
)
def check(step, world, context):
    parent = _parent(step)
    if not isinstance(parent, str):
        return
    children, links, looked = world.ledger(Children), [], False
    for task in children.upwards(parent):
        subject = world.subjects("task").get(task)
        if subject is None:
            continue
        if not looked:
            looked = True
            yield seen()
        if not children.cancelling:
            return
        if task in children.cancelling and not subject.doubted:
            yield finding(
                step,
                "no new child work below a task that is being cancelled",
                f"{step.type} below it",
                entity=("task", task),
                state=subject.state,
                witness=(*lines(subject), *links),
            )
            return
        above = children.above.get(task)
        if above in children.below:
            links.append(children.below[above][("task", task)])
