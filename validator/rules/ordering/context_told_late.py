"""A turn tells which context it has only after it asked a model.

Why: who replays the request has to know what the model was given; told later, it may be what the next one is given.
Trips: model.requested of a turn, then its first context.resolved.  Near miss: context.resolved comes first.
Fix: Emit context.resolved when the context is put together, before the first request goes out.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen


class Requests:
    """The first request of each turn for which no context was told before it."""

    hears = ("model.requested", "context.resolved")
    forgets_faded = ("_known", "first")

    def __init__(self, world: World):
        self._known: set[str] = set()
        self.first: dict[str, int] = {}

    def apply(self, step: Step) -> None:
        turn = step.scope.get("turn_id")
        if turn is not None and step.type == "model.requested" and turn not in self._known:
            self.first.setdefault(turn, step.number)
        elif turn is not None and step.type == "context.resolved":
            self._known.add(turn)


@rule("ORD019", "context-told-late", clauses={"agent-runtime": "CTX-1"}, on="context.resolved", needs=(Requests,))
def check(step, world, context):
    turn = step.scope.get("turn_id")
    if turn is None:
        return
    yield seen()
    line = world.ledger(Requests).first.pop(turn, None)
    if line is not None:
        expected, actual = "context.resolved before the first model.requested", "after it"
        yield finding(step, expected, actual, entity=("turn", turn), witness=(line,), key="late")
