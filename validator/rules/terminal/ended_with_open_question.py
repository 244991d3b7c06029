"""A turn or a task ended while a question that blocks it was pending.

Why: whoever is asked answers into the void, and nobody can say whether the end was meant to wait.
Trips: action.required for a turn, then turn.failed.  Near miss: the action is resolved as cancelled before turn.failed.
Fix: Resolve the action first, as cancelled or timed_out if nobody is going to answer.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._calm import nothing_left
from validator.rules.terminal._work import OpenWork, ends, lines

CLAUSES = {"turn": ("TURN-13", "turn_id"), "task": ("TASK-28", "task_id")}


@rule(
    "TRM002",
    "ended-with-open-question",
    clauses={"agent-runtime": ("TURN-13", "TASK-28")},
    on=("turn.*", "task.*", "queue.changed"),
    needs=(OpenWork,),
    quiet=nothing_left,
)
def check(step, world, context):
    for move in ends(world, step, *CLAUSES):
        clause, name = CLAUSES[move.machine]
        yield seen(clause)
        for action in world.ledger(OpenWork).of("action", name, move.subject):
            if action.state == "pending":
                yield finding(
                    step,
                    f"every blocking action of the {move.machine} settled before it is {move.target}",
                    "an action is still pending",
                    clause=clause,
                    entity=(move.machine, move.subject),
                    state=move.source,
                    witness=lines(world.subjects(move.machine)[move.subject], action),
                    key=move.target,
                )
