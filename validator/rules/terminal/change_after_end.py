"""A subject that was over was moved again.

Why: consumers stop watching at a terminal state, so whatever comes after it is lost on them, or overwrites the outcome.
Trips: task.completed, then task.failed.  Near miss: task.completed, then task.archived, which the table allows.
Fix: End a subject once; a retry is a new attempt with a new id, a correction is a new subject.
"""

from validator.rules import finding, rule, seen
from validator.rules.state.illegal_move import _clauses


@rule("TRM001", "change-after-end", clauses=_clauses(), on=("*", "record:run", "record:snapshot"), follows=True)
def check(step, world, context):
    for move in step.moves:
        machine = world.protocol.machines[move.machine]
        if machine.is_terminal(move.target):
            yield seen(move.row.clause)
    for refusal in step.refusals:
        machine = world.protocol.machines[refusal.machine]
        subject = world.subjects(refusal.machine).get(refusal.subject)
        if subject is None or not machine.is_terminal(refusal.state):
            continue
        yield finding(
            step,
            f"nothing moves a {refusal.machine} that is {refusal.state}, except what its table lists",
            f"{refusal.driver}",
            clause=refusal.clause,
            entity=(refusal.machine, refusal.subject),
            state=refusal.state,
            witness=tuple(subject.history),
            key=str(refusal.driver),
        )
