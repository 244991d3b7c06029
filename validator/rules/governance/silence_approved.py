"""Silence, a refusal or a failed authentication was taken for a yes.

Why: somebody who does not answer has not agreed.
Trips: action.resolved approves with decision_source timeout.  Near miss: it is timed_out with that source.
Fix: Resolve as timed_out, denied or cancelled when no answer came.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._questions import GRANTS
from validator.rules.governance._said import permits, said

SILENCE = {"timeout", "policy_deny", "auth_failure"}
SOURCES = ("decision_source", "decided_by", "actor")
"""Where a decision says what it comes from; who decided may be nobody as well."""


@rule(
    "GOV017",
    "silence-approved",
    clauses={"agent-runtime": ("ACT-16", "CHAN-21")},
    on=("action.resolved", "permission.resolved", "channel.permission_returned"),
)
def check(step, world, context):
    crossing = step.type == "channel.permission_returned"
    clause = "CHAN-21" if crossing else "ACT-16"
    told = [said(step.line, "response_source")] if crossing else [permits(step.line, name) for name in SOURCES]
    source = next((word for word in told if word in SILENCE), None)
    if source is None:
        return
    yield seen(clause)
    word = permits(step.line, "decision")
    if word in GRANTS:
        yield finding(
            step, f"no grant from {source}", f"{word}", pointer="/payload/decision", clause=clause, key=str(source)
        )
