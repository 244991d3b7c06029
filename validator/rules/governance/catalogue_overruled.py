"""A tool yielded a result although the catalogue in force denies it, or asks about it and nobody decided.

Why: a catalogue that a call can ignore promises a boundary that is not there.
Trips: the catalogue lists a tool as denied, and a call of it yields tool.result.
Near miss: it lists the tool as ask, permission.evaluated allows the call, and the call yields tool.result.
Fix: Refuse calls of denied and unavailable tools; record the decision for a tool that is listed as ask.
"""

from validator.rules import finding, rule, seen
from validator.rules._catalogues import RESERVED, Catalogues
from validator.rules.governance._calm import unopposed
from validator.rules.governance._decisions import Decisions
from validator.rules.governance._questions import Questions
from validator.rules.governance._said import hidden, refused_by_table
from validator.rules.governance._work import Work


@rule(
    "GOV028",
    "catalogue-overruled",
    clauses={"agent-runtime": ("TOOL-15", "TOOL-16")},
    on="tool.result",
    needs=(Catalogues, Work, Decisions, Questions),
    quiet=unopposed,
)
def check(step, world, context):
    target = world.ledger(Work).of(step)
    if target is None or refused_by_table(step, "tool_call"):
        return
    catalogues = world.ledger(Catalogues)
    catalogue, entry = catalogues.for_call(target), catalogues.entry(target)
    clause = RESERVED.get(str((entry or {}).get("policy")))
    if clause is None or hidden(world, step):
        return
    yield seen(clause)
    if clause == "TOOL-16" and _decided(world, target):
        return
    yield finding(
        step,
        "no result of a tool that is denied, unavailable, or asked about and undecided",
        f"a result of a tool listed as {entry['policy']}",
        clause=clause,
        entity=("tool_call", target.key),
        state=entry["policy"],
        witness=(catalogue.line, target.line),
    )


def _decided(world, target):
    answered = any(question.answered for question in world.ledger(Questions).naming.get(target.key, ()))
    return answered or world.ledger(Decisions).on_record(target)
