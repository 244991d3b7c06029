"""The attempt count of a job item does not count its attempts.

Why: a count that jumps, stands still or moves because of another item hides how often an item was really tried.
Trips: an item that failed is started again with count 1.  Near miss: it is started again with count 2.
Fix: Begin with one, add one for each attempt of that item, and leave the other items alone.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._jobs import Jobs
from validator.rules.terminal._work import number, told, unsure


@rule(
    "TRM020",
    "item-attempt-count-wrong",
    clauses={"agent-runtime": ("JOB-17", "JOB-16")},
    on="job.item.*",
    needs=(Jobs,),
)
def check(step, world, context):
    jobs = world.ledger(Jobs)
    job, count = jobs.of(step), number(told(step, "attempt_count"))
    if job is None or count is None or "job_item_id" not in step.scope or step.refusals or unsure(world, step):
        return
    before, clause = jobs.before, "JOB-17"
    tried = before.count if before else 0
    expected = tried + 1 if step.type == "job.item.started" else tried
    witness = (*jobs.lines(step), *((before.started,) if before else ()))
    if step.type != "job.item.started":
        if not tried:
            return
        if job.retried is not None and job.retried[0] != step.scope["job_item_id"] and job.retried[1] > before.started:
            clause, witness = "JOB-16", (*witness, *_retried(world, job))
    yield seen(clause)
    if count != expected:
        yield finding(
            step,
            f"attempt {expected:g} of the item",
            f"attempt {count:g}",
            clause=clause,
            pointer="/payload/attempt_count",
            entity=("job_item", step.scope["job_item_id"]),
            witness=witness,
            key=step.type,
        )


def _retried(world, job):
    subject = world.subjects("job_item").get(job.retried[0])
    return (*(subject.history if subject else ()), job.retried[1])
