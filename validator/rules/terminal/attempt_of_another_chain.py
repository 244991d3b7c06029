"""An attempt is not the one that the retry announced, or follows one that never was.

Why: the chain of attempts is the history of the task; a wrong link leads a reviewer to the wrong try.
Trips: task.retrying names run r2 and run r3 starts.  Near miss: the run that was named starts.
Fix: Start the run that `next_run_id` names, and name in `prior_run_id` an earlier attempt of the same task.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import Attempts, told, unsure


@rule(
    "TRM016",
    "attempt-of-another-chain",
    clauses={"agent-runtime": ("ATT-10", "ATT-11")},
    on=("task.attempt.started", "task.retrying"),
    needs=(Attempts,),
)
def check(step, world, context):
    task, run = step.scope.get("task_id"), step.scope.get("run_id")
    story = world.ledger(Attempts).of(task)
    if task is None:
        return
    created = () if story.created is None else (story.created,)
    if step.type == "task.attempt.started" and story.attempts and story.attempts[-1].run == run:
        line, named, _, _ = story.answered
        if line is not None and isinstance(named, str) and world.unproved(step) is None:
            yield seen("ATT-10")
            if named != run:
                yield finding(
                    step,
                    "the run that task.retrying named",
                    "another run",
                    clause="ATT-10",
                    pointer="/run_id",
                    entity=("task", task),
                    witness=(*created, line),
                )
    prior = told(step, "prior_run_id")
    if not isinstance(prior, str) or unsure(world, step):
        return
    yield seen("ATT-11")
    earlier = {entry.run for entry in story.attempts if entry.line < step.number}
    if prior not in earlier:
        yield finding(
            step,
            "an attempt of the same task that began earlier",
            "no such attempt was told",
            clause="ATT-11",
            pointer="/payload/prior_run_id",
            entity=("task", task),
            witness=created,
        )
