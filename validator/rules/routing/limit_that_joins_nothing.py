"""A limit spoke, and nothing says which turn or request it met.

Why: whoever wonders why a turn is slow or blocked cannot find the limit that did it.
Trips: rate_limit.hit with a session and nothing else.  Near miss: the same event with the model request it met.
Fix: Carry the turn, the model request or the request in every limit event.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import body

IDS = ("turn_id", "model_request_id", "request_id")


@rule(
    "RTE007",
    "limit-that-joins-nothing",
    clauses={"agent-runtime": "LIM-8"},
    on=("rate_limit.hit", "quota.low", "quota.blocked"),
)
def check(step, world, context):
    payload = body(step)
    yield seen()
    if any(name in step.scope for name in IDS):
        return
    inner = (known(payload.get(name)) for name in ("model_request_id", "request_ref"))
    if not any(isinstance(value, str) for value in inner):
        yield finding(step, "a turn, a model request or a request", "none of them")
