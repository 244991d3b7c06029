"""An event speaks about a subject that nothing has introduced.

Why: a result without a call, an answer without a question, an end without a beginning: none of it can be replayed.
Trips: tool.result for a call that never started.  Near miss: tool.started, then tool.result.
Fix: Emit the event that introduces the subject first, with the same id; the state table lists which one that is.
"""

from validator.rules import finding, rule, seen
from validator.rules._rule import TableClauses
from validator.rules._words import one
from validator.rules.ordering._introduced import Introduced
from validator.rules.state._moves import refused, unrefused


@rule(
    "ORD005",
    "effect-before-cause",
    clauses=TableClauses(),
    on=("*", "record:run", "record:snapshot"),
    needs=(Introduced,),
    follows=True,
    quiet=unrefused,
)
def check(step, world, context):
    for move in step.taken():
        if move.source != "none":
            yield seen(move.row.clause)
    for refusal in refused(step, context):
        if world.subjects(refusal.machine).get(refusal.subject) is not None:
            continue
        if refusal.subject in world.ledger(Introduced).ids:
            continue
        # What introduced it may lie before the first sequence of the capture, or in what was lost.
        if world.unproved(step) is not None or world.midway(step):
            continue
        yield finding(
            step,
            f"the event that introduces the {refusal.machine} first",
            f"{refusal.driver} about {one(refusal.machine)} never seen",
            clause=refusal.clause,
            entity=(refusal.machine, refusal.subject),
            state="none",
            key=str(refusal.driver),
            cause=step.reused and step.number,
        )
