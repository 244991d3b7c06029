"""A subject was moved in a way that no row of its state table allows.

Why: consumers replay events into states; a move that the table does not have leaves each of them with another truth.
Trips: task.created, then task.completed.  Near miss: task.created, task.started, then task.completed.
Fix: Emit the missing move first, or the event that really happened; the clause names the moves that are legal.
"""

from validator.rules import finding, rule, seen
from validator.rules._rule import TableClauses
from validator.rules.state._moves import refused, unrefused


@rule(
    "STA001",
    "illegal-move",
    clauses=TableClauses(),
    on=("*", "record:run", "record:snapshot"),
    follows=True,
    quiet=unrefused,
)
def check(step, world, context):
    for move in step.moves:
        yield seen(move.row.clause)
    for refusal in refused(step, context):
        machine = world.protocol.machines[refusal.machine]
        subject = world.subjects(refusal.machine).get(refusal.subject)
        if subject is None or machine.is_terminal(refusal.state):
            continue
        yield finding(
            step,
            f"{refusal.driver} in a state that {refusal.clause} allows",
            f"{refusal.machine} is {refusal.state}",
            clause=refusal.clause,
            entity=(refusal.machine, refusal.subject),
            state=refusal.state,
            witness=tuple(subject.history),
            key=str(refusal.driver),
            cause=step.reused and step.number,
        )
