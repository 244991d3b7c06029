"""A call or process rests on an approval that was not given for it.

Why: an approval that can be carried elsewhere approves everything.
Trips: tool.started for c2 names the action that was required for c1, and runs.
Near miss: the action states a scope that an approval covers.
Fix: Require an action of its own for each call, or state in the action what an approval covers.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import unopposed
from validator.rules.governance._decisions import Decisions
from validator.rules.governance._questions import Questions
from validator.rules.governance._said import hidden, refused_by_table
from validator.rules.governance._work import TOOL_RUNS, Work


@rule(
    "GOV016",
    "approval-misused",
    clauses={"agent-runtime": ("ACT-15", "TOOL-27", "PERM-23")},
    on=(*TOOL_RUNS, "process.started"),
    needs=(Questions, Work, Decisions),
    quiet=unopposed,
)
def check(step, world, context):
    work = world.ledger(Work)
    target = work.of(step)
    if target is None or target.ran != step.number or refused_by_table(step, "tool_call"):
        return
    if target.action:
        yield from _named(step, world, target)
    if target.permission_ref:
        yield from _shared(step, world, target, work)


def _named(step, world, target):
    question = world.ledger(Questions).all.get(target.action)
    if question is None:
        if hidden(world, step) or world.state("action", target.action) is not None:
            return
        yield finding(
            step,
            "the action that approval_action_id names was required",
            "no such action was required",
            clause="TOOL-27",
            entity=("tool_call", target.key),
            witness=(target.line,),
            key="unknown action",
        )
        return
    yield seen("TOOL-27", "ACT-15")
    if question.call and question.call != target.key and not (question.scoped and question.covers(target)):
        lines = (question.line, question.answered) if question.answered else (question.line,)
        scope = "a scope without this one" if question.scoped else "no scope"
        yield finding(
            step,
            "an approval of this call, or of a scope that contains it",
            f"the action names another call and states {scope}",
            clause="ACT-15",
            entity=("tool_call", target.key),
            witness=(target.line, *lines),
            key="other call",
        )


def _shared(step, world, target, work):
    """A decision with scope once that two targets refer to."""
    decisions, other = world.ledger(Decisions), work.first_to_rest_on[target.permission_ref]
    if set(other.ids) & set(target.ids):
        return
    about = [entry for entry in decisions.of(other) if entry.allows]
    if not about:
        return
    yield seen("PERM-23")
    if about[-1].scope == "once":
        yield finding(
            step,
            "a decision with scope once serves one target",
            "a second target refers to it",
            clause="PERM-23",
            entity=(target.kind, target.key),
            witness=(other.line, other.ran, target.line, *(entry.line for entry in decisions.of(other))),
            key="once",
        )
