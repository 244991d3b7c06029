"""After a restart work goes on before the runtime has said what it recovered.

Why: nobody can tell whether the work rests on the whole history, on a part of it, or on none.
Trips: a restart, then task.progress of a running task.  Near miss: history.reconstructed between the two.
Fix: Emit history.window.loaded, history.reconstructed or snapshot.repaired first, then go on.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step


@rule(
    "ORD018",
    "work-before-recovery",
    clauses={"agent-runtime": "ORD-34"},
    needs=(Arrivals,),
    quiet=in_step,
)
def check(step, world, context):
    arrivals = world.ledger(Arrivals)
    if arrivals.said:
        yield seen()
    elif arrivals.early:
        moved = [world.subjects(move.machine)[move.subject].history for move in step.moves]
        yield finding(
            step,
            "an event that says what was recovered",
            "work that goes on",
            entity=("session", step.scope["session_id"]),
            witness=(*arrivals.early, *(line for lines in moved for line in lines)),
            key="silent",
        )
