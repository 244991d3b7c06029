"""A permission was resolved by an action that was never required.

Why: the link leads nowhere, so nobody can see what the person was asked.
Trips: permission.resolved names approval_action_id a9, and no action.required has that id.
Near miss: action.required for a1, then permission.resolved that names a1.
Fix: Require the action before the permission is resolved, or leave approval_action_id out.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._decisions import Decisions, target_of
from validator.rules.governance._said import hidden


@rule(
    "GOV006",
    "linked-action-missing",
    clauses={"agent-runtime": "PERM-11"},
    on="permission.resolved",
    needs=(Decisions,),
)
def check(step, world, context):
    target = target_of(step)
    about = world.ledger(Decisions).about.get(target or "")
    linked = about.linked if about else None
    if linked is None or hidden(world, step):
        return
    yield seen()
    # Whoever was to be asked and is not any longer is asked nothing; the resolution itself may not say otherwise.
    unasked = about[-1].word == "cancelled" and linked.line != step.number
    if world.state("action", linked.action) is None and not unasked:
        yield finding(
            step,
            "the action that approval_action_id names is required by now",
            "no such action was required",
            pointer="/payload/approval_action_id" if linked.line == step.number else "",
            entity=("action", linked.action),
            witness=about.lines(),
        )
