"""A task is shown without one of its attempts.

Why: the attempt that failed explains the one that runs; without it a third try looks like the first.
Trips: two attempts were started, and the task's attempts list has the second alone.
Near miss: the task leaves attempts out altogether.
Fix: Keep every attempt in the list, with its status, error and outputs.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._owners import ATTEMPT, NEEDS, WAKES, compared, fault, owned, restarted


@rule("SNP005", "attempt-dropped", clauses={"agent-runtime": ("ATT-7", "TASK-42")}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        if found.claim.model not in {"task_snapshot", "thread_read_model", "task"}:
            continue
        entries, again = owned(found, ATTEMPT), restarted(world, found)
        yield seen(*(["TASK-42"] if again else ()), "ATT-7")
        if entries:
            yield fault(step, world, found, entries, "TASK-42" if again else "ATT-7")
