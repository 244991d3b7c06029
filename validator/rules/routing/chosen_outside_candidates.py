"""A decision chose a model that was not among the candidates listed for it.

Why: the candidates are what policy, credentials and limits left over; a model from outside was never checked.
Trips: candidates a and b, then routing.decided for c.  Near miss: routing.decided for b.
Fix: Choose from the list, or resolve the candidates again before the decision.
"""

from validator.rules import finding, rule, seen
from validator.rules.routing._routes import DECISIONS, Routes
from validator.rules.terminal._work import told


@rule("RTE001", "chosen-outside-candidates", clauses={"agent-runtime": "RTE-6"}, on=DECISIONS, needs=(Routes,))
def check(step, world, context):
    before, model = world.ledger(Routes).before, told(step, "selected_model")
    if before.models is None or not isinstance(model, str):
        return
    yield seen()
    if model not in before.models:
        yield finding(
            step,
            "one of the candidates that were listed",
            "a model that is not among them",
            pointer="/payload/selected_model",
            witness=(before.candidates,),
        )
