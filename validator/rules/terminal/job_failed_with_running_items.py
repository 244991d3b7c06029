"""A job failed while some of its items were running.

Why: an item that runs below a failed job can only be told as cancelled afterwards, whatever really became of it.
Trips: job.item.started, then job.failed.  Near miss: job.item.failed stands between them.
Fix: Tell the fate of every running item before job.failed.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import OpenWork, ends, lines


@rule(
    "TRM022",
    "job-failed-with-running-items",
    clauses={"agent-runtime": "JOB-24"},
    on="job.failed",
    needs=(OpenWork,),
)
def check(step, world, context):
    for move in ends(world, step, "job"):
        yield seen()
        for item in world.ledger(OpenWork).of("job_item", "job_id", move.subject):
            if item.state == "running":
                yield finding(
                    step,
                    "running items told as failed or cancelled before the job fails",
                    "an item is still running",
                    entity=("job", move.subject),
                    state=move.source,
                    witness=lines(world.subjects("job")[move.subject], item),
                )
                return
