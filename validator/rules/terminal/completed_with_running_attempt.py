"""A task was completed while one of its attempts was running.

Why: the attempt goes on changing what was declared done, and its outcome has no task to count for.
Trips: task.attempt.started, then task.completed.  Near miss: task.attempt.completed stands between them.
Fix: End every attempt of the task before it is completed.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import OpenWork, ends, lines


@rule(
    "TRM003",
    "completed-with-running-attempt",
    clauses={"agent-runtime": "TASK-36"},
    on="task.completed",
    needs=(OpenWork,),
)
def check(step, world, context):
    for move in ends(world, step, "task"):
        task = world.subjects("task")[move.subject]
        if "task.attempt.started" in world.observed_types:
            yield seen()
        for attempt in world.ledger(OpenWork).of("attempt", "task_id", move.subject):
            yield finding(
                step,
                "no attempt of the task running",
                f"an attempt is {attempt.state}",
                entity=("task", move.subject),
                state=move.source,
                witness=lines(task, attempt),
            )
