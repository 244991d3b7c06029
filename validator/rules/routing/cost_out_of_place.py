"""A cost stands on the wrong side of the request it belongs to, or counts it twice.

Why: an estimate after the fact warns nobody, a record before the end is no record, and two of them double the bill.
Trips: two cost.recorded for one model request.  Near miss: two cost.recorded for two model requests.
Fix: Estimate before the request, record once after its end.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import lines


class Costs:
    """Model requests that a cost.recorded has counted, with its line."""

    hears = ("cost.recorded",)
    forgets = ("recorded",)

    def __init__(self, world):
        self.recorded = {}
        self.before = None

    def request(self, step):
        body = step.line.get("payload")
        inner = known(body.get("model_request_id")) if isinstance(body, dict) else None
        return inner if isinstance(inner, str) else step.scope.get("model_request_id")

    def apply(self, step):
        if step.type == "cost.recorded":
            request = self.request(step)
            self.before = self.recorded.get(request)
            if request is not None:
                self.recorded.setdefault(request, step.number)


@rule(
    "RTE008",
    "cost-out-of-place",
    clauses={"agent-runtime": ("LIM-2", "LIM-3", "LIM-6")},
    on=("cost.estimated", "cost.recorded"),
    needs=(Costs,),
)
def check(step, world, context):
    costs = world.ledger(Costs)
    request = costs.request(step)
    subject = world.subjects("model_request").get(request or "")
    if request is None:
        return
    about = {"entity": ("model_request", request), "witness": lines(subject)}
    if step.type == "cost.estimated":
        yield seen("LIM-2")
        if subject is not None:
            yield finding(step, "an estimate before its request", "it comes after", clause="LIM-2", **about)
        return
    yield seen("LIM-6")
    if costs.before is not None:
        about["witness"] = (costs.before,)
        yield finding(step, "one record for one request", "a second one", clause="LIM-6", **about)
    elif subject is not None:
        yield seen("LIM-3")
        if world.protocol.machines["model_request"].is_open(subject.state) and not subject.doubted:
            expected, actual = "a record after the end of its request", f"the request is {subject.state}"
            yield finding(step, expected, actual, clause="LIM-3", state=subject.state, **about)
