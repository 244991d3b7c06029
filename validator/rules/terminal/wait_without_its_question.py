"""A task waits for an action, and the event does not say for which.

Why: a person who wants to help has to search for the question that holds the task up.
Trips: an action of the task is pending, then task.waiting without ids.  Near miss: task.waiting lists the action.
Fix: List the ids in `action_ids` of task.waiting, or in `required_action_ids` of task.blocked.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import OpenWork, lines, told, words

FIELDS = {"task.waiting": "action_ids", "task.blocked": "required_action_ids"}


@rule(
    "TRM028",
    "wait-without-its-question",
    clauses={"agent-runtime": "TASK-27"},
    on=tuple(FIELDS),
    needs=(OpenWork,),
)
def check(step, world, context):
    task, field = step.scope.get("task_id"), FIELDS[step.type]
    if task is None or told(step, "status") == "waiting_resource" or told(step, "blocker_kind") not in (None, "action"):
        return
    listed = {*words(step, field)}
    for action in world.ledger(OpenWork).of("action", "task_id", task):
        if action.state != "pending":
            continue
        yield seen()
        if action.key not in listed:
            yield finding(
                step,
                f"the pending action in {field}",
                "it is not listed",
                pointer=f"/payload/{field}" if listed else "/payload",
                entity=("task", task),
                witness=lines(world.subjects("task").get(task), action),
            )
