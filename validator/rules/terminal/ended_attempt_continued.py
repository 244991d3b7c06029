"""Work goes on under an attempt that has failed, was lost or ran out of time.

Why: what an attempt did and cost is counted by its id; a second try under the same one cannot be told from the first.
Trips: task.attempt.failed of run r1, then tool.started with run r1.  Near miss: tool.started with run r2.
Fix: Start a new attempt with an id of its own, and do the work under that.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import lines

WORK = ("model.requested", "tool.started", "process.started")
BAD = {"failed", "timed_out", "lost", "cancelled"}


def going_on(step, world, context):
    """The key of work under an attempt that did not end badly, or under none: whether there is one."""
    attempt = _attempt(step, world)
    return False if attempt is None else None if attempt.state in BAD else True


def _attempt(step, world):
    attempts, scope = world.subjects("attempt"), step.scope
    return attempts.get(scope.get("run_id", "")) or attempts.get(scope.get("attempt_id", ""))


@rule("TRM033", "ended-attempt-continued", clauses={"agent-runtime": "ATT-12"}, on=WORK, quiet=going_on)
def check(step, world, context):
    attempt = _attempt(step, world)
    if attempt is None:
        return
    yield seen()
    if attempt.state in BAD:
        yield finding(
            step,
            "a new attempt",
            f"{step.type} of one that is {attempt.state}",
            pointer=f"/{attempt.by}",
            entity=("attempt", attempt.key),
            state=attempt.state,
            witness=lines(attempt),
            key=f"{step.type} {attempt.state}",
        )
