"""The counts that a job event states are not those of its items.

Why: a progress bar that counts something else than the items shows a batch as done that is not, or the reverse.
Trips: one of two items is completed and job.progress says two.  Near miss: a reported item is counted as completed.
Fix: Compute the counts from the items at that moment; they add up to the number of items the job was created with.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.terminal._jobs import Jobs
from validator.rules.terminal._work import number, told

STATES = ("pending", "running", "completed", "failed", "cancelled", "reported")


def _stated(step):
    """The counts an event states, and where they stand."""
    progress = told(step, "progress")
    if isinstance(progress, dict):
        return progress, "/payload/progress"
    record = step.line.get("job")
    progress = known(record.get("progress")) if isinstance(record, dict) else None
    return (progress, "/job/progress") if isinstance(progress, dict) else (None, "")


def _expected(job, jobs, counts):
    """How many items are in each state, folded as the event counts them."""
    real = {state: job.states[state] for state in STATES}
    if "cancelled" not in counts:
        real["failed"] += real.pop("cancelled")
    if "reported" not in counts:
        real.pop("reported")
        real["completed"] += jobs.reported(job, "completed")
        real["failed"] += jobs.reported(job, "failed")
    return real


@rule(
    "TRM018",
    "job-counts-differ",
    clauses={"agent-runtime": ("JOB-13", "JOB-14")},
    on=("job.progress", "job.completed", "job.failed", "job.cancelled"),
    needs=(Jobs,),
)
def check(step, world, context):
    jobs = world.ledger(Jobs)
    job = jobs.of(step)
    progress, pointer = _stated(step)
    if job is None or progress is None or world.unproved(step) is not None:
        return
    counts = {state: value for state in STATES if (value := number(known(progress.get(state)))) is not None}
    about = {
        "pointer": pointer,
        "entity": ("job", step.scope["job_id"]),
        "witness": (job.line, *(line for name in job.items for line in _lines(world, name))),
    }
    if job.complete:
        yield seen("JOB-13")
        real = _expected(job, jobs, progress)
        wrong = [state for state, value in counts.items() if value != real[state]]
        if wrong:
            expected = ", ".join(f"{state} {real[state]}" for state in wrong)
            actual = ", ".join(f"{state} {counts[state]:g}" for state in wrong)
            yield finding(step, expected, actual, clause="JOB-13", key=" ".join(wrong), **about)
            return
    total = number(known(progress.get("total")))
    if total is None:
        return
    yield seen("JOB-14")
    stated = [state for state in STATES if state in progress]
    if len(counts) == len(stated) and sum(counts.values()) != total:
        yield finding(step, f"counts that add up to {total:g}", f"{sum(counts.values()):g}", clause="JOB-14", **about)
    elif job.size is not None and total != job.size:
        expected = f"the {job.size:g} items the job was created with"
        yield finding(step, expected, f"a total of {total:g}", clause="JOB-14", key="total", **about)


def _lines(world, name):
    subject = world.subjects("job_item").get(name)
    return subject.history if subject else ()
