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
    for move in step.taken():
        yield seen(move.row.clause)
    for refusal in refused(step, context):
        machine = world.protocol.machines[refusal.machine]
        subject = world.subjects(refusal.machine).get(refusal.subject)
        if subject is None or machine.is_terminal(refusal.state):
            continue
        expected, actual = _words(refusal, machine)
        yield finding(
            step,
            expected,
            actual,
            clause=refusal.clause,
            entity=(refusal.machine, refusal.subject),
            state=refusal.state,
            witness=tuple(subject.history),
            key=str(refusal.driver),
            cause=step.reused and step.number,
        )


def _words(refusal, machine):
    """What was expected and found. Where a row of the clause begins in the state, it is its condition that fails."""
    driver, clause, found = refusal.driver, refusal.clause, f"{refusal.machine} is {refusal.state}"
    if any(row.clause == clause and refusal.state in row.sources for row in machine.by_driver[driver]):
        return f"{driver} as {clause} allows it", f"{found}, and a condition of the clause is not met"
    return f"{driver} in a state that {clause} allows", found
