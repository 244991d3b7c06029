"""A decision was given or used after its time was up.

Why: what was right to allow an hour ago was allowed for that hour.
Trips: an action expires at nine and is approved at ten.  Near miss: it is approved before it expires.
Fix: Resolve an expired action as timed_out and ask again; evaluate an expired permission again before the act.
"""

from validator.protocol.formats import instant
from validator.rules import finding, rule, seen
from validator.rules._words import one
from validator.rules.governance._calm import unopposed
from validator.rules.governance._decisions import Decisions
from validator.rules.governance._questions import GRANTS, Questions
from validator.rules.governance._said import permits, said
from validator.rules.governance._work import RUNS, Work, runs
from validator.rules.governance.silence_approved import SILENCE


@rule(
    "GOV013",
    "expired-decision",
    clauses={"agent-runtime": ("ACT-17", "PERM-24")},
    on=("action.resolved", *RUNS),
    needs=(Questions, Decisions, Work),
    quiet=unopposed,
)
def check(step, world, context):
    if step.type == "action.resolved":
        question = world.ledger(Questions).all.get(step.scope.get("action_id", ""))
        if question and question.expires and question.answered == step.number and said(step.line, "decision") in GRANTS:
            now = instant(step.line.get("timestamp"))
            if now is None:
                return
            yield seen("ACT-17")
            # A grant that nobody gave is a fault of its own, whenever it came.
            if now > question.expires and permits(step.line, "decision_source") not in SILENCE:
                yield _late(step, "ACT-17", ("action", question.key), "answer", (question.line,))
        return
    target = world.ledger(Work).of(step)
    if target is None or target.ran != step.number or not runs(step):
        return
    about = world.ledger(Decisions).of(target)
    allows = [entry for entry in about if entry.allows]
    if not allows or any(entry.expires is None for entry in allows):
        return
    now = instant(step.line.get("timestamp"))
    if now is None:
        return
    yield seen("PERM-24")
    if all(now > entry.expires for entry in allows):
        lines = (target.line, *(entry.line for entry in about))
        yield _late(step, "PERM-24", (target.kind, target.key), "run", lines)


def _late(step, clause, entity, what, witness):
    return finding(
        step,
        f"{one(what)} before expires_at",
        f"{one(what)} after it",
        clause=clause,
        entity=entity,
        witness=witness,
        key=what,
    )
