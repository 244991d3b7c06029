"""A task was completed without the artifact, the evidence or the delivery that its creation demanded.

Why: the summary sounds good and the file was never written; the demand was made so that this cannot happen.
Trips: task.created demands artifacts, then task.completed and no artifact.  Near miss: artifact.changed names the task.
Fix: Tell the artifact or the evidence before the completion, and state `delivery_state: delivered` when it has arrived.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._results import Results
from validator.rules.terminal._work import ends, lines, unsure, words

KINDS = (
    ("TASK-31", "artifacts_required", "artifact", "artifact_ids"),
    ("TASK-32", "evidence_required", "evidence", "evidence_ids"),
)


@rule(
    "TRM010",
    "demanded-result-missing",
    clauses={"agent-runtime": ("TASK-31", "TASK-32", "TASK-33")},
    on="task.completed",
    needs=(Results,),
)
def check(step, world, context):
    results = world.ledger(Results)
    if unsure(world, step):
        return
    for move in ends(world, step, "task"):
        demands = results.demands.get(move.subject, {})
        about = {"entity": ("task", move.subject), "state": move.source}
        witness = lines(world.subjects("task")[move.subject])
        for clause, demand, kind, field in KINDS:
            if demand not in demands:
                continue
            yield seen(clause)
            named = any(key in results.known[kind] for key in words(step, field))
            if not named and move.subject not in results.for_task[kind]:
                expected, actual = f"{kind} of the task told before its completion", "none was told"
                yield finding(step, expected, actual, clause=clause, witness=witness, **about)
        if "delivery_required" in demands:
            yield seen("TASK-33")
            state, line = results.delivery.get(move.subject, ("nothing", step.number))
            if state != "delivered":
                about["witness"] = (*witness, line)
                expected, actual = "delivery state delivered", f"{state} was told"
                yield finding(step, expected, actual, clause="TASK-33", key=state, **about)
