"""Work goes on under an attempt that has failed, was lost or ran out of time.

Why: what an attempt did and cost is counted by its id; a second try under the same one cannot be told from the first.
Trips: task.attempt.failed of run r1, then tool.started with run r1.  Near miss: tool.started with run r2.
Fix: Start a new attempt with an id of its own, and do the work under that.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import lines

WORK = ("model.requested", "tool.started", "process.started")
BAD = {"failed", "timed_out", "lost", "cancelled"}


@rule("TRM033", "ended-attempt-continued", clauses={"agent-runtime": "ATT-12"}, on=WORK)
def check(step, world, context):
    attempt = next(
        (
            found
            for name in ("run_id", "attempt_id")
            if (found := world.subjects("attempt").get(step.scope.get(name, "")))
        ),
        None,
    )
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
