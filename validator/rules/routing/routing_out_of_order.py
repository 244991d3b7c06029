"""Routing told its steps in an order in which the later one cannot rest on the earlier.

Why: a profile that is settled after the choice explains nothing about it.
Trips: routing.decided, then the first candidates of the turn.  Near miss: a second round of candidates and decision.
Fix: Settle the profile, then the candidates, then the decision.
"""

from validator.rules import finding, rule, seen
from validator.rules.routing._routes import Routes


@rule(
    "RTE006",
    "routing-out-of-order",
    clauses={"agent-runtime": "RTE-1"},
    on=("task.profile.resolved", "routing.candidates.resolved"),
    needs=(Routes,),
)
def check(step, world, context):
    before = world.ledger(Routes).before
    yield seen()
    if step.type == "task.profile.resolved":
        late = before.profile is None and (before.candidates or before.decision)
        expected = "the profile before candidates and decision"
    else:
        late = before.candidates is None and before.decision
        expected = "the candidates before the decision"
    if late:
        actual = f"{step.type} comes after"
        yield finding(step, expected, actual, entity=("turn", step.scope.get("turn_id", "")), witness=(late,))
