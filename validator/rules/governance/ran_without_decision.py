"""A process, or a call that writes files or runs a shell, ran without any decision on record.

Why: afterwards nobody can say who allowed it.
Trips: process.started, and no permission event names the process or its call.
Near miss: permission.evaluated allows the call, then its process starts.
Fix: Emit permission.evaluated for the call or process before it runs, whatever the mode is.
"""

from validator.rules import finding, rule, seen
from validator.rules._catalogues import RESERVED, Catalogues
from validator.rules.governance._calm import unopposed
from validator.rules.governance._danger import writes_or_shell
from validator.rules.governance._decisions import Decisions
from validator.rules.governance._said import hidden
from validator.rules.governance._work import TOOL_RUNS, Work


@rule(
    "GOV004",
    "ran-without-decision",
    clauses={"agent-runtime": "PERM-10"},
    on=(*TOOL_RUNS, "process.started"),
    needs=(Work, Decisions, Catalogues),
    quiet=unopposed,
)
def check(step, world, context):
    target = world.ledger(Work).of(step)
    if target is None or target.ran != step.number or hidden(world, step):
        return
    catalogues = world.ledger(Catalogues)
    if target.kind == "tool_call" and (target.process or not writes_or_shell(target, catalogues)):
        return  # what runs in a process was decided with it
    # What the catalogue in force forbids or asks about is a fault against the catalogue.
    if step.type == "tool.result" and (catalogues.entry(target) or {}).get("policy") in RESERVED:
        return
    yield seen()
    if not world.ledger(Decisions).on_record(target):
        yield finding(
            step,
            "permission.evaluated or permission.resolved on record before it runs",
            f"{step.type} without a decision",
            entity=(target.kind, target.key),
            witness=(target.line,),
        )
