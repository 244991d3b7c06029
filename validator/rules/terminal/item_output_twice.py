"""An item of a job yielded a second output.

Why: whoever collects the outputs counts the item twice, or takes the one that was superseded.
Trips: an item is completed with one output and reported with another.  Near miss: it is reported with the same output.
Fix: Give an item one output, whichever attempt produced it, and repeat its reference unchanged.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._jobs import Jobs
from validator.rules.terminal._work import told, words


@rule(
    "TRM019",
    "item-output-twice",
    clauses={"agent-runtime": "JOB-15"},
    on=("job.item.completed", "job.completed"),
    needs=(Jobs,),
)
def check(step, world, context):
    jobs = world.ledger(Jobs)
    job = jobs.of(step)
    if job is None or step.refusals:
        return
    if step.type == "job.completed":
        refs = words(step, "output_refs")
        outputs = {item.output: item for item in job.items.values() if item.output}
        for ref in sorted(set(refs) & set(outputs)):
            yield seen()
            if refs.count(ref) > 1:
                yield finding(
                    step,
                    "each output once",
                    "the output of an item listed twice",
                    pointer="/payload/output_refs",
                    entity=("job", step.scope["job_id"]),
                    witness=(*jobs.lines(step), *_items(world, job)),
                    key="listed twice",
                )
        return
    before, output = jobs.before, told(step, "output_ref")
    if before is None or before.output is None or not isinstance(output, str):
        return
    yield seen()
    if output != before.output:
        yield finding(
            step,
            "the output that the item has",
            "another output",
            pointer="/payload/output_ref",
            entity=("job_item", step.scope["job_item_id"]),
            witness=(*jobs.lines(step), before.started, before.output_line),
        )


def _items(world, job):
    subjects = (world.subjects("job_item").get(name) for name in job.items)
    return (line for subject in subjects if subject for line in subject.history)
