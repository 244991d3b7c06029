"""A summary shows a denial or a lone candidate without what explains it.

Why: a person who is told no, or is given the only model there is, has to see why before deciding what to do.
Trips: a rule denied a call, and the permission_sandbox_summary shows the decision without the rule or a reason.
Near miss: the summary names the rule.
Fix: Copy what was told: rule, mode, source and reason of a denial; count, reason, gap, cost and limits of a route.
"""

from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.rules import finding, rule, seen
from validator.rules.snapshot._owners import NEEDS, WAKES, compared, scope_of

DENIED_BY = ("rule_refs", "decision_reason", "decision_source", "actor", "mode")
ROUTED = ("decision_reason", "capability_gap", "routing_mode")


@rule("SNP022", "reason-left-out", clauses={"agent-runtime": ("RM-49", "RM-53")}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        if found.claim.model == "permission_sandbox_summary":
            yield from _denied(step, world, found)
        elif found.claim.model == "routing_limit_summary":
            yield from _alone(step, world, found)


def _denied(step, world, found):
    decisions, shown = found.expected.get("decisions") or [], found.claim.document.get("decisions")
    last = decisions[-1] if decisions else {}
    told = [name for name in DENIED_BY if name in last]
    if last.get("decision") != "deny" or not told:
        return
    yield seen("RM-49")
    entry = shown[-1] if isinstance(shown, list) and shown and isinstance(shown[-1], dict) else {}
    if not entry.keys() & set(told):
        yield _fault(step, world, found, "RM-49", "/decisions", "what denied", told[0])


def _alone(step, world, found):
    """The lone candidate: what the replay has of its count, reason, gap, cost and limits is there too."""
    decision = found.expected.get("routing_decision") or {}
    if decision.get("routing_mode") != "single_candidate":
        return
    yield seen("RM-53")
    document = found.claim.document
    shown = document.get("routing_decision")
    for name in ("candidate_count", "routing_decision", "cost_state", "limit_states"):
        if found.expected.get(name) and name not in document:
            yield _fault(step, world, found, "RM-53", f"/{name}", "what is known of the lone candidate", name)
            return
    for name in ROUTED:
        if name in decision and isinstance(shown, dict) and "honest" not in shown and name not in shown:
            place = f"/routing_decision/{name}"
            yield _fault(step, world, found, "RM-53", place, "what is known of the lone candidate", name)
            return


def _fault(step, world, found, clause, place, expected, key):
    return finding(
        step,
        expected,
        "nothing",
        pointer=found.claim.pointer + place,
        clause=clause,
        entity=scope_of(found.claim),
        witness=world.ledger(Replay).lines(found.claim.session, step.number),
        key=key,
    )
