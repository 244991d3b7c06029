"""An action and the permission it stands for were decided differently.

Why: one of the two is shown to the person, the other lets the work run.
Trips: action.resolved denies, permission.resolved of the linked permission allows.
Near miss: both are refused, the action as timed_out and the permission as denied.
Fix: Derive both resolutions from the one answer.
"""

from itertools import chain

from validator.rules import finding, rule, seen
from validator.rules.governance._decisions import Decisions, target_of
from validator.rules.governance._questions import GRANTS, Questions
from validator.rules.governance._said import permits, said, shown


@rule(
    "GOV007",
    "linked-decisions-differ",
    clauses={"agent-runtime": "PERM-12"},
    on=("action.resolved", "permission.resolved"),
    needs=(Decisions, Questions),
)
def check(step, world, context):
    if step.refusals:
        return
    other = _resolved_permission if step.type == "action.resolved" else _resolved_action
    found = other(step, world)
    if found is None:
        return
    line, word, entity = found
    own = said(step.line, "decision") if step.type == "action.resolved" else permits(step.line, "decision")
    yield seen()
    if (own in GRANTS) != (word in GRANTS):
        yield finding(
            step,
            f"the decision of the linked {entity[0]}: {shown(word)}",
            shown(own),
            pointer="/payload/decision",
            entity=entity,
            state=shown(word),
            witness=line,
        )


def _resolved_action(step, world):
    """The answer to the action that a permission is linked to."""
    about = world.ledger(Decisions).about.get(target_of(step) or "")
    linked = about.linked if about else None
    question = world.ledger(Questions).all.get(linked.action) if linked else None
    if question is None or question.answered is None:
        return None
    lines = chain((question.line, question.answered), about.lines())
    return lines, question.decision, ("action", question.key)


def _resolved_permission(step, world):
    """The resolution of a permission that is linked to an action."""
    decisions = world.ledger(Decisions)
    key = step.scope.get("action_id", "")
    question = world.ledger(Questions).all.get(key)
    if question is None or question.answered != step.number:
        return None
    for target in decisions.linked.get(key, ()):
        about = decisions.about[target]
        resolved = about.resolved.get(key)
        if resolved:
            lines = chain((question.line,), about.lines())
            return lines, resolved.word, ("permission", target)
    return None
