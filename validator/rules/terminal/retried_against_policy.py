"""A task was tried again although its last attempt or its retry policy said no.

Why: an error that no retry can heal is paid for again, and a bound that nobody keeps protects nobody.
Trips: an attempt fails with retryable false and another follows.  Near miss: the retry says that a user asked for it.
Fix: Stop, or record the user's request as `trigger: user_rerun`.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import Attempts


@rule(
    "TRM017",
    "retried-against-policy",
    clauses={"agent-runtime": ("ATT-13", "ATT-14")},
    on="task.attempt.started",
    needs=(Attempts,),
)
def check(step, world, context):
    task, run = step.scope.get("task_id"), step.scope.get("run_id")
    story = world.ledger(Attempts).of(task)
    if task is None or len(story.attempts) < 2 or story.attempts[-1].run != run:
        return
    line, _, trigger, asked = story.answered
    if line is not None and trigger is None and not asked:
        return  # a retry that does not say who wanted it proves nothing
    before = story.attempts[-2]
    created = () if story.created is None else (story.created,)
    retry = () if line is None else (line,)
    about = {"entity": ("task", task)}
    if before.retryable is not None:
        yield seen("ATT-13")
        if before.retryable is False and not asked:
            witness = (*created, before.line, before.ended or before.line, *retry)
            expected, actual = "no further attempt unless a user asked for it", "another attempt"
            yield finding(step, expected, actual, clause="ATT-13", witness=witness, **about)
    if story.limit is not None:
        yield seen("ATT-14")
        if len(story.attempts) > story.limit and not asked:
            witness = (*created, *(entry.line for entry in story.attempts[:-1]), *retry)
            expected, actual = f"at most {story.limit:g} attempts", f"{len(story.attempts)} attempts"
            yield finding(step, expected, actual, clause="ATT-14", witness=witness, key="bound", **about)
