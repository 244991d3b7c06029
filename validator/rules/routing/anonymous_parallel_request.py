"""A model event has no id of its own while its turn has several requests open.

Why: text without an id cannot be given to one of two requests, and ends up in the wrong answer.
Trips: two requests with ids are open, then model.delta with the turn alone.  Near miss: the delta names its request.
Fix: Give each request an id and repeat it on every event of the request, as soon as two can be open at once.
"""

from itertools import islice

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import OpenWork, lines


def alone(step, world, context):
    """The key of an event of a turn with one request open at most; it is not looked at."""
    turn = step.scope.get("turn_id")
    several = turn is not None and world.ledger(OpenWork).count("model_request", "turn_id", turn) > 1
    return None if several else False


@rule(
    "RTE010",
    "anonymous-parallel-request",
    clauses={"agent-runtime": "MOD-15"},
    on="model.*",
    needs=(OpenWork,),
    quiet=alone,
)
def check(step, world, context):
    turn = step.scope.get("turn_id")
    if turn is None:
        return
    if len(list(islice(world.ledger(OpenWork).of("model_request", "turn_id", turn), 2))) < 2:
        return
    yield seen()
    if "model_request_id" not in step.scope and "request_id" not in step.scope:
        requests = world.ledger(OpenWork).of("model_request", "turn_id", turn)
        yield finding(
            step,
            "the id of one of the requests that are open",
            "the turn alone",
            entity=("turn", turn),
            witness=(*lines(world.subjects("turn").get(turn)), *lines(*requests)),
        )
