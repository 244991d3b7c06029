"""A limit states a bound, a use and a rest that do not fit together.

Why: one of the three is wrong, and whoever plans with the rest plans with a guess.
Trips: limit 100, used 40, remaining 70.  Near miss: limit 100, used 40, remaining 60.
Fix: Let used and remaining add up to the bound, or state honestly which of them is not known.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import number
from validator.rules.unknown.unknown_limit_told_ok import _states


@rule(
    "RTE009",
    "limit-does-not-add-up",
    clauses={"agent-runtime": "LIM-14"},
    on=("limit.changed", "rate_limit.hit", "quota.*", "routing.*"),
)
def check(step, world, context):
    for pointer, state in _states(step):
        bound, used, rest = (number(known(state.get(name))) for name in ("limit", "used", "remaining"))
        if bound is None or used is None or rest is None:
            continue
        yield seen()
        if abs(used + rest - bound) > 1e-9 * max(1, abs(bound)):
            expected, actual = "used and remaining that add up to the bound", "they do not"
            yield finding(step, expected, actual, pointer=pointer)
