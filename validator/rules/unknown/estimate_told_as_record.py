"""A cost that was only estimated is told as recorded.

Why: an estimate that passes for a bill is compared with nothing and corrected by nobody.
Trips: cost.estimated with a cost state recorded.  Near miss: cost.estimated with a cost state estimated.
Fix: Keep estimates in cost.estimated with status estimated, and write cost.recorded when the amount is charged.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import number


@rule("UNK007", "estimate-told-as-record", clauses={"agent-runtime": "HON-30"}, on=("cost.estimated", "cost.recorded"))
def check(step, world, context):
    state, body = step.line.get("cost_state"), step.line.get("payload")
    state, body = (entry if isinstance(entry, dict) else {} for entry in (state, body))
    if step.type == "cost.recorded":
        if "status" in state:
            yield seen()
        if state.get("status") == "estimated":
            expected, actual = "cost.estimated for an estimate", "cost.recorded"
            yield finding(step, expected, actual, pointer="/cost_state/status", key="estimated")
        return
    yield seen()
    if state.get("status") == "recorded":
        yield finding(step, "status estimated", "recorded", pointer="/cost_state/status", key="recorded")
    for place, entry in (("payload", body), ("cost_state", state)):
        if number(known(entry.get("actual_total_cost"))) is not None:
            pointer = f"/{place}/actual_total_cost"
            yield finding(step, "no charged amount in an estimate", "a number", pointer=pointer, key="amount")
