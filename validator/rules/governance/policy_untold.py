"""A change of policy does not say whose, by whom or to what, or evaluations go on under another mode.

Why: decisions are read against the policy in force; a change that cannot be found makes them look arbitrary.
Trips: policy.changed sets mode never, and a later evaluation in the session names mode auto.
Near miss: the later evaluation names mode never.
Fix: State policy_scope, changed_by and policy_ref or changed; evaluate under the mode that was set.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import explained
from validator.rules.governance._decisions import PolicyModes
from validator.rules.governance._said import permits, stated


@rule(
    "GOV030",
    "policy-untold",
    clauses={"agent-runtime": ("POL-1", "POL-3", "POL-4")},
    on=("policy.changed", "permission.evaluated"),
    needs=(PolicyModes,),
    quiet=explained,
)
def check(step, world, context):
    if step.type == "policy.changed":
        yield seen("POL-1", "POL-4")
        missing = [name for name in ("policy_scope", "changed_by") if stated(step.line, name) is None]
        if missing:
            actual = f"no {', '.join(missing)}"
            yield finding(step, "scope and author", actual, pointer="/payload", clause="POL-1", key=" ".join(missing))
        if all(stated(step.line, name) is None for name in ("policy_ref", "changed")):
            yield finding(step, "policy_ref or changed", "neither", pointer="/payload", clause="POL-4")
        return
    mode, found = permits(step.line, "mode"), world.ledger(PolicyModes).set.get(step.scope.get("session_id", ""))
    if mode is None or found is None:
        return
    yield seen("POL-3")
    if mode != found[0]:
        yield finding(
            step,
            "the mode that the policy set",
            "another mode",
            pointer="/payload/mode",
            clause="POL-3",
            witness=(found[1],),
        )
