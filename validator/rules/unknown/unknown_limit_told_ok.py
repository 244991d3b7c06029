"""A limit of which nothing is known is said to be ok.

Why: work is sent against a limit that may be used up, and fails where it could have waited.
Trips: limit.changed with status ok and an unknown rest.  Near miss: the same with status unknown.
Fix: State `unknown` as the status of a limit whose amounts are not known.
"""

from validator.protocol.honest import is_honest
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import number

AMOUNTS = ("limit", "used", "remaining")
IGNORANCE = ("unknown", "unavailable", "stale")


def _states(step):
    """Every limit that an event states, with its place."""
    payload = step.line.get("payload")
    for place, body in (("", step.line), ("/payload", payload if isinstance(payload, dict) else {})):
        for name in ("limit_state", "limit_state_snapshot"):
            if isinstance(body.get(name), dict) and not is_honest(body[name]):
                yield f"{place}/{name}", body[name]


@rule(
    "UNK005",
    "unknown-limit-told-ok",
    clauses={"agent-runtime": "LIM-13"},
    on=("limit.changed", "rate_limit.hit", "quota.*", "routing.*"),
)
def check(step, world, context):
    for pointer, state in _states(step):
        told = [state.get(name) for name in AMOUNTS if name in state]
        ignorant = any(is_honest(value) and value["honest"] in IGNORANCE for value in told)
        if not ignorant or any(number(value) is not None for value in told):
            continue
        yield seen()
        if state.get("status") == "ok":
            expected = "a status that does not claim what the amounts do not show"
            yield finding(step, expected, "ok", pointer=f"{pointer}/status")
