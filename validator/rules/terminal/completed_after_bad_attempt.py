"""A task was completed although its newest attempt ended badly.

Why: a reviewer who asks which try produced the result finds only one that failed.
Trips: the only attempt fails, then task.completed.  Near miss: another attempt follows and is completed first.
Fix: Try again, or tell the attempt that did the work, before the task is completed.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import Attempts, ends, lines

BAD = ("failed", "cancelled", "timed_out")


@rule(
    "TRM004",
    "completed-after-bad-attempt",
    clauses={"agent-runtime": "TASK-37"},
    on="task.completed",
    needs=(Attempts,),
)
def check(step, world, context):
    for move in ends(world, step, "task"):
        newest = _newest(world, move.subject)
        if newest is not None and world.unproved(step) is None:
            yield seen()
            if newest.state in BAD:
                yield _fault(step, world, move, newest)


def _newest(world, task):
    """The newest attempt, unless the task was about to be tried again."""
    story = world.ledger(Attempts).of(task)
    if not story.attempts or story.retrying is not None:
        return None
    return world.subjects("attempt").get(story.attempts[-1].run)


def _fault(step, world, move, newest):
    return finding(
        step,
        "another attempt after one that ended badly",
        f"the newest attempt is {newest.state}",
        entity=("task", move.subject),
        state=move.source,
        witness=lines(world.subjects("task")[move.subject], newest),
        key=newest.state,
    )
