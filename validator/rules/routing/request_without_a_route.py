"""A model was requested although routing had found none, or a person had not confirmed the choice.

Why: the request went somewhere that no decision on record leads to.
Trips: routing.not_possible, then model.requested.  Near miss: routing.fallback.applied stands between them.
Fix: Record a decision, a single candidate or a fallback first; where a person has to confirm, record the answer.
"""

from validator.rules import finding, rule, seen
from validator.rules.routing._routes import Routes
from validator.rules.terminal._work import lines


def routed(step, world, context):
    """The key of a request that nothing on record holds back: whether there was a decision, and ever a block."""
    before, turn = world.ledger(Routes).before, step.scope.get("turn_id", "")
    if step.refusals or before.impossible is not None or before.override is not None or before.blocked is not None:
        return None
    if turn not in world.subjects("turn") or world.unproved(step) is not None:
        return False
    return before.decision is not None, "quota.blocked" in world.observed_types


@rule(
    "RTE003",
    "request-without-a-route",
    clauses={"agent-runtime": ("RTE-9", "RTE-15", "LIM-10")},
    on="model.requested",
    needs=(Routes,),
    quiet=routed,
)
def check(step, world, context):
    routes = world.ledger(Routes)
    before, turn = routes.before, world.subjects("turn").get(step.scope.get("turn_id", ""))
    if turn is None or any(entry.machine == "turn" for entry in step.refusals) or world.unproved(step) is not None:
        return
    about = {"entity": ("turn", turn.key), "state": turn.state}
    if before.decision is not None or before.impossible is not None:
        yield seen("RTE-9")
    if before.impossible is not None:
        expected, actual = "a routing event that found a model", "none since routing.not_possible"
        witness = (*lines(turn), before.impossible)
        yield finding(step, expected, actual, clause="RTE-9", witness=witness, **about)
        return
    if before.override is not None:
        expected, actual = "the override of a person on record", "none since the decision that requires it"
        witness = (*lines(turn), before.override)
        yield finding(step, expected, actual, clause="RTE-15", witness=witness, **about)
    elif before.decision is not None:
        yield seen("RTE-15")
    if before.blocked is not None:
        expected, actual = "a changed limit, a fallback or a decision", "none since quota.blocked"
        witness = (*lines(turn), before.blocked)
        yield finding(step, expected, actual, clause="LIM-10", witness=witness, **about)
    elif "quota.blocked" in world.observed_types:
        yield seen("LIM-10")
