"""A decision or a hook rewrote the input, and something else was taken as the input afterwards.

Why: who rewrote it did so to make it safe; running the old input undoes that silently.
Trips: hook.completed with updated_input_ref, then tool.started with another args_ref.
Near miss: tool.started has the rewritten reference as args_ref.
Fix: Run the rewritten input, and state its reference as args_ref.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import unopposed
from validator.rules.governance._questions import Questions
from validator.rules.governance._rewrites import Rewrites
from validator.rules.governance._said import said


@rule(
    "GOV014",
    "rewritten-input-ignored",
    clauses={"agent-runtime": ("PERM-27", "HOOK-11", "ACT-14")},
    on=("tool.started", "tool.args"),
    needs=(Rewrites, Questions),
    quiet=unopposed,
)
def check(step, world, context):
    call, ref = step.scope.get("tool_call_id", ""), said(step.line, "args_ref")
    found = world.ledger(Rewrites).latest.get(call)
    if found is None or ref is None:
        return
    rewritten, clause, lines = found
    yield seen(clause)
    if ref != rewritten:
        subject = world.subjects("tool_call").get(call)
        yield finding(
            step,
            "the rewritten input",
            "a reference to another input",
            pointer="/payload/args_ref",
            clause=clause,
            entity=("tool_call", call),
            witness=(*lines, *(subject.history if subject else ())),
        )
