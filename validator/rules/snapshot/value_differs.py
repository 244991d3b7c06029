"""A snapshot states a value that the replay of its events does not have.

Why: whoever opens a session sees the snapshot and not the stream; from then on there are two truths.
Trips: turn.started, then a thread_read_model that shows the turn as queued.
Near miss: the same snapshot gives the status of the turn as unknown.
Fix: Build the read model from the events up to the sequence it claims, and leave out what is not kept up to date.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._clauses import MODEL_CLAUSES, clause_of, note_repeat, situations
from validator.rules.snapshot._owners import NEEDS, VALUE, WAKES, compared, fault, owned

CLAUSES = (
    *("RM-2", "RM-18", "RM-27", "RM-28", "RM-29", "RM-30", "RM-31", "RM-33", "RM-58", "RM-59"),
    *("CTL-61", "ATT-8", "POL-2"),
    *MODEL_CLAUSES.values(),
)


@rule(
    "SNP001",
    "value-differs",
    clauses={"agent-runtime": CLAUSES},
    on=(*WAKES, "repeat"),
    needs=NEEDS,
)
def check(step, world, context):
    if step.repeats is not None:
        note_repeat(world, step)
        return
    for found in compared(step, world, context):
        entries = owned(found, VALUE)
        if not found.differences:
            yield seen(*situations(world, found))
        elif entries:
            cause = step.number if len(entries) < len(found.differences) else None
            yield fault(step, world, found, entries, clause_of(world, found, entries[0]), cause=cause)
