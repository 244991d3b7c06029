"""A call that would have been asked about ran in mode bypass, and no evaluation names the mode.

Why: to skip the question is one thing, to skip the record another.
Trips: the catalogue resolved in mode bypass lists the tool as ask; it is allowed, and no evaluation names the mode.
Near miss: permission.evaluated allows the call and names mode bypass.
Fix: Emit permission.evaluated with mode bypass for every call that the mode lets pass.
"""

from validator.rules import finding, rule, seen
from validator.rules._catalogues import Catalogues
from validator.rules.governance._calm import unopposed
from validator.rules.governance._decisions import Decisions
from validator.rules.governance._said import hidden
from validator.rules.governance._work import TOOL_RUNS, Work


@rule(
    "GOV010",
    "skipped-question-untold",
    clauses={"agent-runtime": "PERM-19"},
    on=TOOL_RUNS,
    needs=(Work, Decisions, Catalogues),
    quiet=unopposed,
)
def check(step, world, context):
    target = world.ledger(Work).of(step)
    if target is None or target.ran != step.number or hidden(world, step):
        return
    catalogues = world.ledger(Catalogues)
    catalogue, entry = catalogues.for_call(target), catalogues.entry(target)
    about = world.ledger(Decisions).of(target)
    if catalogue is None or catalogue.mode != "bypass" or not entry or entry.get("policy") != "ask" or not about:
        return  # a call with no decision at all is told by the catalogue's own rule
    yield seen()
    if any(found.word == "ask" for found in about):
        return
    if not any(found.mode == "bypass" for found in about):
        yield finding(
            step,
            "permission.evaluated that names mode bypass",
            "the question was skipped, and no evaluation names the mode",
            entity=("tool_call", target.key),
            witness=(catalogue.line, target.line, *(found.line for found in about)),
        )
