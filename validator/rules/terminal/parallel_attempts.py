"""An attempt was started while another attempt of the same task was running.

Why: two workers on one task overwrite each other, and neither outcome can be trusted.
Trips: two task.attempt.started without an end between them.  Near miss: the task was created with parallel_attempts.
Fix: End the old attempt, as lost if need be, or create the task with `parallel_attempts: true`.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import Attempts, OpenWork, lines


@rule(
    "TRM013",
    "parallel-attempts",
    clauses={"agent-runtime": "ATT-5"},
    on="task.attempt.started",
    needs=(Attempts, OpenWork),
)
def check(step, world, context):
    task, run = step.scope.get("task_id"), step.scope.get("run_id")
    story = world.ledger(Attempts).of(task)
    if task is None or story.created is None:
        return
    if any(entry.machine == "attempt" for entry in step.refusals):
        return
    yield seen()
    if story.parallel:
        return
    for attempt in world.ledger(OpenWork).of("attempt", "task_id", task):
        if attempt.key != run:
            yield finding(
                step,
                "one running attempt at a time",
                "another attempt of the task is running",
                entity=("task", task),
                state=attempt.state,
                witness=(story.created, *lines(attempt)),
            )
            return
