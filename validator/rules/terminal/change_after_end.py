"""A subject that was over was moved again.

Why: consumers stop watching at a terminal state, so whatever comes after it is lost on them, or overwrites the outcome.
Trips: task.completed, then task.failed.  Near miss: task.completed, then task.archived, which the table allows.
Fix: End a subject once; a retry is a new attempt with a new id, a correction is a new subject.
"""

from validator.rules import finding, rule, seen
from validator.rules._rule import TableClauses
from validator.rules._words import one
from validator.rules.state._moves import refused, unrefused

CLOSED = ("task", "archived", "TASK-30")
"""The one state after which no event of the family may come, whether a row lists it or not."""
CLAUSES = TableClauses({"agent-runtime": CLOSED[2:]})


@rule(
    "TRM001",
    "change-after-end",
    clauses=CLAUSES,
    on=("*", "record:run", "record:snapshot"),
    follows=True,
    quiet=unrefused,
)
def check(step, world, context):
    for move in step.taken():
        machine = world.protocol.machines[move.machine]
        if machine.is_terminal(move.target):
            yield seen(move.row.clause)
    for refusal in refused(step, context):
        machine = world.protocol.machines[refusal.machine]
        subject = world.subjects(refusal.machine).get(refusal.subject)
        if subject is None or not machine.is_terminal(refusal.state):
            continue
        yield finding(
            step,
            f"nothing moves {one(refusal.machine)} that is {refusal.state}, except what its table lists",
            f"{refusal.driver}",
            clause=CLOSED[2] if (refusal.machine, refusal.state) == CLOSED[:2] else refusal.clause,
            entity=(refusal.machine, refusal.subject),
            state=refusal.state,
            witness=tuple(subject.history),
            key=str(refusal.driver),
            cause=step.reused and step.number,
        )
    yield from _closed(step, world)


def _closed(step, world):
    """An event of a task that was archived, which moves nothing and is still one too many."""
    task = world.subjects("task").get(step.scope.get("task_id", "")) if (step.type or "").startswith("task.") else None
    if task is None or task.state != CLOSED[1] or step.kind != "event":
        return
    yield seen(CLOSED[2])
    if not any(entry.machine == "task" for entry in (*step.moves, *step.refusals)):
        yield finding(
            step,
            "no further event of an archived task",
            f"{step.type}",
            clause=CLOSED[2],
            entity=("task", task.key),
            state=task.state,
            witness=tuple(task.history),
            key=str(step.type),
        )
