"""A runtime is said to have timed out within the time it was given.

Why: the user is told to allow more time, and time was not what ran out.
Trips: runtime.timeout with 4000 ms used of 60000 ms.  Near miss: 60210 ms used of 60000 ms.
Fix: Report a timeout only when the limit was passed, with the limit and the time that were really measured.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import entity, payload


@rule("AHB024", "timeout-within-limit", clauses={"agenthub": "AH-115"}, on="runtime.timeout")
def check(step, world, context):
    given, used = payload(step).get("timeoutMs"), payload(step).get("elapsedMs")
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in (given, used)):
        return
    yield seen()
    if used < given:
        actual = "less time was used than was given"
        yield finding(step, "a limit that was passed", actual, pointer="/payload/elapsedMs", entity=entity(step))
