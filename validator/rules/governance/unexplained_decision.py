"""A permission event leaves out what a reviewer needs to understand it.

Why: a decision without source, reason or rules cannot be checked, a destructive act without its reach not weighed.
Trips: permission.evaluated without decision_reason.  Near miss: source and reason, the rules honestly unavailable.
Fix: Give source, reason and rules; for a destructive act also impact_scope and rollback_advice; name the target.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import explained
from validator.rules.governance._decisions import TARGETS
from validator.rules.governance._said import permits, stated


@rule(
    "GOV012",
    "unexplained-decision",
    clauses={"agent-runtime": ("PERM-21", "PERM-22", "PERM-25")},
    on="permission.*",
    quiet=explained,
)
def check(step, world, context):
    yield seen("PERM-25")
    # An event that does not even name its turn does not have the shape of one.
    if "turn_id" in step.line and TARGETS.isdisjoint(step.line):
        expected = "the call, process, action or peer task it is about"
        yield finding(step, expected, "only the turn is named", clause="PERM-25", key="target")
    if step.type != "permission.evaluated":
        return
    names = ["decision_source", "decision_reason"]
    if permits(step.line, "decision_source") == "rule":
        names.append("rule_refs")
    yield from _judge(step, "PERM-21", names)
    if permits(step.line, "destructive") is True:
        yield from _judge(step, "PERM-22", ["impact_scope", "rollback_advice"])


def _judge(step, clause, names):
    yield seen(clause)
    missing = [name for name in names if stated(step.line, name, "permission_decision") is None]
    if missing:
        yield _missing(step, clause, ", ".join(names), f"no {', '.join(missing)}", " ".join(missing))


def _missing(step, clause, expected, actual, key):
    return finding(step, expected, actual, clause=clause, pointer="/payload", key=key)
