"""A call or process ran although its permission was refused, still asked for, or could not be evaluated.

Why: a decision that does not stop the act is a note, not a permission.
Trips: permission.evaluated denies a call, and the call yields tool.result.
Near miss: permission.evaluated asks, permission.resolved allows, and the call yields tool.result.
Fix: End a refused call by tool.failed with status denied; do not start what is still asked about.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import unopposed
from validator.rules.governance._decisions import AGAINST
from validator.rules.governance._questions import Questions
from validator.rules.governance._said import refused_by_table
from validator.rules.governance._work import RUNS, Work, runs
from validator.rules.governance.work_before_answer import STARTS


@rule(
    "GOV003",
    "ran-against-decision",
    clauses={"agent-runtime": ("PERM-13", "PERM-9", "PERM-5")},
    on=RUNS,
    needs=(Work, Questions),
    quiet=unopposed,
)
def check(step, world, context):
    target = world.ledger(Work).of(step)
    if target is None or not runs(step) or refused_by_table(step, "tool_call"):
        return
    for key in target.ids:
        permission = world.subjects("permission").get(key)
        if permission is None or permission.doubted:
            continue
        yield seen()
        clause, since = AGAINST.get(permission.state), permission.history[-1]
        if clause is None or (target.before or 0) > since:
            continue
        if clause == "PERM-9" and _elsewhere(step, world, target, permission.history[0]):
            continue
        yield finding(
            step,
            "nothing runs before its permission allows it",
            f"{step.type} while the permission is {permission.state}",
            clause=clause,
            entity=(target.kind, target.key),
            state=permission.state,
            witness=(target.line, *permission.history),
        )
        return


def _elsewhere(step, world, target, since):
    """True when the action that asked was granted, which the permission may say later, or is itself ignored."""
    questions = world.ledger(Questions)
    if any((question.answered or 0) > since for question in questions.granted_for(*target.ids)):
        return True
    asked = (question.key for key in target.ids for question in questions.naming.get(key, ()))
    return step.type in STARTS and any(world.state("action", key) == "pending" for key in asked)
