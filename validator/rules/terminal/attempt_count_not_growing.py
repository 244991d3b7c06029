"""The count of an attempt is not greater than that of the attempts before it.

Why: an attempt that counts like an older one overwrites it in every list that is keyed by the count.
Trips: a second attempt with attempt_count 1.  Near miss: a second attempt with attempt_count 2.
Fix: Count the attempts of a task from one, and never go back.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import Attempts, unsure


@rule(
    "TRM015",
    "attempt-count-not-growing",
    clauses={"agent-runtime": "ATT-9"},
    on="task.attempt.started",
    needs=(Attempts,),
)
def check(step, world, context):
    task, run = step.scope.get("task_id"), step.scope.get("run_id")
    story = world.ledger(Attempts).of(task)
    if task is None or not story.attempts or story.attempts[-1].run != run or story.attempts[-1].count is None:
        return
    count, earlier = story.attempts[-1].count, story.attempts[:-1]
    yield seen()
    highest = max((entry for entry in earlier if entry.count is not None), key=lambda entry: entry.count, default=None)
    about = {"pointer": "/payload/attempt_count", "entity": ("task", task)}
    if highest is not None and count <= highest.count:
        witness = (*(() if story.created is None else (story.created,)), highest.line)
        expected, actual = "a greater count than every earlier attempt", "a count that was used or passed"
        yield finding(step, expected, actual, witness=witness, key="not greater", **about)
    elif not earlier and count != 1 and story.created is not None and not unsure(world, step):
        witness = (story.created,)
        yield finding(step, "the first attempt is number one", "another count", witness=witness, key="first", **about)
