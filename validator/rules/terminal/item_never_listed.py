"""Work began on an item that the job was not created with.

Why: the counts of a job rest on its list of items; one that was never listed is missing from every total.
Trips: job.created lists x, and y is started.  Near miss: the job gives a cursor for the rest of its items.
Fix: List every item in job.created, or give `item_cursor` where the rest can be read.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._jobs import Jobs


@rule(
    "TRM021",
    "item-never-listed",
    clauses={"agent-runtime": "JOB-22"},
    on="job.item.started",
    needs=(Jobs,),
)
def check(step, world, context):
    jobs = world.ledger(Jobs)
    job, name = jobs.of(step), step.scope.get("job_item_id")
    if job is None or name is None or not job.listed or (jobs.before is not None and not jobs.before.listed):
        return
    yield seen()
    if job.complete and name not in job.listed:
        yield finding(
            step,
            "an item that the job was created with",
            "an item that its list does not name",
            pointer="/job_item_id",
            entity=("job", step.scope["job_id"]),
            witness=(job.line, *_start(world, step)),
        )


def _start(world, step):
    subject = world.subjects("job").get(step.scope["job_id"])
    return subject.history if subject else ()
