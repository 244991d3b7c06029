"""A task was completed after a retry that no attempt followed.

Why: the retry was announced and never made, so the result cannot come from it.
Trips: task.retrying, task.progress, then task.completed.  Near miss: task.attempt.started follows the retry.
Fix: Tell the new attempt by task.attempt.started before the task is completed.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import Attempts, ends, lines


@rule(
    "TRM014",
    "retry-without-attempt",
    clauses={"agent-runtime": "ATT-6"},
    on="task.completed",
    needs=(Attempts,),
)
def check(step, world, context):
    for move in ends(world, step, "task"):
        story = world.ledger(Attempts).of(move.subject)
        told = story.retrying is not None or story.answered[0] is not None
        if not told or not story.attempts or world.unproved(step) is not None:
            continue
        yield seen()
        # An attempt under an old id is a fault of its own.
        if story.retrying is not None and not story.overwritten:
            yield finding(
                step,
                "a task.attempt.started between task.retrying and the completion",
                "none was told",
                entity=("task", move.subject),
                state=move.source,
                witness=(*lines(world.subjects("task")[move.subject]), story.attempts[0].line, story.retrying),
            )
