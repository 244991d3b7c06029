"""A request names another model than the one that was decided on, or none was decided on.

Why: the decision explains a model that did not answer, and the answer comes from one that nobody chose.
Trips: routing.decided for a, then model.requested for b.  Near miss: a fallback to b stands between them.
Fix: Record a decision before the first request, and a new decision or a fallback whenever the model changes.
"""

from validator.rules import finding, rule, seen
from validator.rules.routing._routes import Routes
from validator.rules.terminal._work import lines, told, unsure


def as_decided(step, world, context):
    """The key of a request for the model that was decided on: whether it is the first, and a model was chosen."""
    routes, model = world.ledger(Routes), told(step, "model")
    before = routes.before
    if "turn_id" not in step.scope or before.impossible is not None or step.refusals or before.decision is None:
        return None
    compared = before.model is not None and isinstance(model, str)
    return None if compared and model != before.model else (routes.is_first_request, compared)


@rule(
    "RTE005",
    "requested-another-model",
    clauses={"agent-runtime": ("RTE-13", "RTE-2")},
    on="model.requested",
    needs=(Routes,),
    quiet=as_decided,
)
def check(step, world, context):
    routes = world.ledger(Routes)
    before, model, turn = routes.before, told(step, "model"), step.scope.get("turn_id")
    subject = world.subjects("turn").get(turn or "")
    if turn is None or before.impossible is not None or step.refusals:
        return
    routing = routes.first is not None or "routing" in world.capabilities
    if before.decision is None:
        if routing and routes.is_first_request and not unsure(world, step):
            yield seen("RTE-2")
            expected, actual = "a routing decision before the first request of the turn", "none for the turn"
            witness = (*lines(subject), *(() if routes.first is None else (routes.first,)))
            yield finding(step, expected, actual, clause="RTE-2", entity=("turn", turn), witness=witness)
        return
    if routes.is_first_request:
        yield seen("RTE-2")
    if before.model is None or not isinstance(model, str):
        return
    yield seen("RTE-13")
    if model != before.model:
        yield finding(
            step,
            "the model that the latest decision or fallback chose",
            "another model",
            clause="RTE-13",
            pointer="/payload/model",
            entity=("turn", turn),
            witness=(*lines(subject), before.decision),
        )
