"""Another model stepped in although the profile of the work does not allow it.

Why: a policy of deny is often a promise about where data goes; a fallback breaks it without asking.
Trips: fallback_policy deny, then routing.fallback.applied.  Near miss: fallback_policy allow.
Fix: Fail or block where fallbacks are denied, and ask a person first where the policy says ask.
"""

from validator.rules import finding, rule, seen
from validator.rules.routing._routes import Routes
from validator.rules.terminal._work import told


@rule(
    "RTE004",
    "fallback-against-policy",
    clauses={"agent-runtime": ("RTE-11", "RTE-12", "RTE-10")},
    on="routing.fallback.applied",
    needs=(Routes,),
)
def check(step, world, context):
    before = world.ledger(Routes).before
    about = {"entity": ("turn", step.scope.get("turn_id", "")), "witness": (before.profile,) if before.profile else ()}
    if before.fallback_policy is not None:
        yield seen("RTE-11")
    if before.fallback_policy == "deny":
        yield finding(step, "no fallback where the policy is deny", "a fallback", clause="RTE-11", **about)
    elif before.fallback_policy == "ask":
        yield seen("RTE-12")
        if not any(line > before.profile for line in before.answers):
            expected, actual = "a decision of a person before the fallback", "none on record"
            yield finding(step, expected, actual, clause="RTE-12", **about)
    one, other = told(step, "from_model"), told(step, "to_model")
    places = [told(step, "from_provider"), told(step, "to_provider")]
    if isinstance(one, str) and isinstance(other, str):
        yield seen("RTE-10")
        if one == other and places[0] == places[1]:
            expected, actual = "another model than the one that could not serve", "the same model"
            yield finding(step, expected, actual, clause="RTE-10", pointer="/payload/to_model", key="same")
