"""A denial does not say where it comes from.

Why: the person who hits it can argue with a rule, a mode or a colleague, but not with nobody.
Trips: permission.evaluated denies without decision_source.  Near miss: permission.resolved denies and names the actor.
Fix: State decision_source; a resolution by a person states at least the actor.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import explained
from validator.rules.governance._said import permits, stated


@rule(
    "GOV011",
    "denial-without-source",
    clauses={"agent-runtime": "PERM-20"},
    on=("permission.evaluated", "permission.resolved"),
    quiet=explained,
)
def check(step, world, context):
    if permits(step.line, "decision") not in {"deny", "denied"}:
        return
    yield seen()
    names = ("decision_source", "actor") if step.type == "permission.resolved" else ("decision_source",)
    if all(stated(step.line, name, "permission_decision") is None for name in names):
        yield finding(step, "a denial with its source", "no decision_source", pointer="/payload")
