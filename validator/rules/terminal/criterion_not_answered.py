"""A task with acceptance criteria was completed without a word on one of them.

Why: whoever set the criterion has to guess whether it was met or forgotten.
Trips: task.created with a criterion, then task.completed without a list.  Near miss: the completion lists it as passed.
Fix: List every criterion with its status in `acceptance` of the completion.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._criteria import Criteria, listed
from validator.rules.terminal._work import ends, lines


@rule(
    "TRM009",
    "criterion-not-answered",
    clauses={"agent-runtime": "DONE-19"},
    on="task.completed",
    needs=(Criteria,),
)
def check(step, world, context):
    before = world.ledger(Criteria).before
    for move in ends(world, step, "task"):
        if before is None or not before[1]:
            continue
        line, wanted = before
        criteria = listed(step)
        if criteria is None and any(entry.get("status") == "failed" for entry in wanted):
            continue  # a failed one passed over in silence is TASK-34
        yield seen()
        told = [entry.get("criterion") for entry in criteria or ()]
        missing = sum(entry.get("criterion") not in told for entry in wanted)
        if missing:
            yield finding(
                step,
                "every acceptance criterion listed with its status",
                f"{missing} of {len(wanted)} criteria not listed",
                pointer="/payload/acceptance" if criteria is not None else "/payload",
                entity=("task", move.subject),
                state=move.source,
                witness=(*lines(world.subjects("task")[move.subject]), line),
            )
