"""A process, or a call that writes files or runs a shell, ran without a boundary on record.

Why: whether it could reach the network or the whole disk is what a reviewer asks first.
Trips: process.started, and no sandbox.applied for the process, its call or its turn.
Near miss: sandbox.applied for the turn with danger_full_access, then process.started.
Fix: Emit sandbox.applied before it runs; no boundary is stated as danger_full_access.
"""

from validator.rules import finding, rule, seen
from validator.rules._catalogues import Catalogues
from validator.rules.governance._calm import unopposed
from validator.rules.governance._danger import writes_or_shell
from validator.rules.governance._decisions import Boundaries
from validator.rules.governance._said import hidden
from validator.rules.governance._work import TOOL_RUNS, Work


@rule(
    "GOV005",
    "ran-without-boundary",
    clauses={"agent-runtime": ("SBX-1", "SBX-7")},
    on=(*TOOL_RUNS, "process.started"),
    needs=(Work, Boundaries, Catalogues),
    quiet=unopposed,
)
def check(step, world, context):
    target = world.ledger(Work).of(step)
    if target is None or target.ran != step.number or hidden(world, step):
        return
    if target.kind == "tool_call" and target.process:
        return  # the boundary of what runs in a process is around that
    catalogues = world.ledger(Catalogues)
    boxed = [key for key in target.ids if world.state("permission", key) == "sandboxed"]
    if target.kind == "tool_call" and not boxed and not writes_or_shell(target, catalogues):
        return
    clause = "SBX-7" if boxed else "SBX-1"
    yield seen(clause)
    if not world.ledger(Boundaries).around(target):
        lines = [line for key in boxed for line in world.subjects("permission")[key].history]
        yield finding(
            step,
            "sandbox.applied on record before it runs",
            f"{step.type} without a boundary",
            clause=clause,
            entity=(target.kind, target.key),
            witness=(target.line, *lines, *catalogues.proof(target)),
        )
