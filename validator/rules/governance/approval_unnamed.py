"""A call that a person approved does not name the action.

Why: who wants to know who said yes has to search for it.
Trips: an action about a call is approved by a person, and tool.started has no approval_action_id.
Near miss: tool.started names the action.
Fix: Write the id of the action into approval_action_id.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import unopposed
from validator.rules.governance._questions import Questions
from validator.rules.governance._said import stated
from validator.rules.governance._work import Work


@rule(
    "GOV032",
    "approval-unnamed",
    clauses={"agent-runtime": "TOOL-26"},
    on="tool.started",
    needs=(Questions, Work),
    quiet=unopposed,
)
def check(step, world, context):
    target = world.ledger(Work).of(step)
    if target is None or target.line != step.number:
        return
    granted = [question for question in world.ledger(Questions).granted_for(target.key) if question.by_person]
    if not granted:
        return
    yield seen()
    if stated(step.line, "approval_action_id") is None:
        yield finding(
            step,
            "approval_action_id",
            "none, after a person approved the call",
            pointer="/payload",
            entity=("tool_call", target.key),
            witness=(granted[-1].line, granted[-1].answered),
        )
