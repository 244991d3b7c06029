"""A mode alone let something run that it alone may not allow.

Why: a mode is a switch somebody forgot to turn back; a destructive act needs a reason that is about this act.
Trips: a destructive call is allowed with decision_source mode only, and yields tool.result.
Near miss: the same call is allowed by a rule as well.
Fix: Let a rule, a person, the host or a tool contract decide; in plan mode deny writes, in untrusted mode ask.
"""

from validator.rules import finding, rule, seen
from validator.rules._catalogues import Catalogues
from validator.rules.governance._calm import unopposed
from validator.rules.governance._danger import is_destructive, is_read_only, writes_or_shell
from validator.rules.governance._decisions import Decisions
from validator.rules.governance._questions import Questions
from validator.rules.governance._said import refused_by_table
from validator.rules.governance._work import TOOL_RUNS, Work


@rule(
    "GOV009",
    "mode-alone-allowed",
    clauses={"agent-runtime": ("PERM-16", "PERM-17", "PERM-18")},
    on=(*TOOL_RUNS, "process.started"),
    needs=(Work, Decisions, Catalogues, Questions),
    quiet=unopposed,
)
def check(step, world, context):
    target = world.ledger(Work).of(step)
    if target is None or target.ran != step.number or refused_by_table(step, "tool_call"):
        return
    decisions, catalogues = world.ledger(Decisions), world.ledger(Catalogues)
    about = decisions.of(target)
    allows = [entry for entry in about if entry.allows]
    if not allows:
        return
    harmful, modes = is_destructive(target, decisions, catalogues), {entry.mode for entry in about}
    if not harmful and modes.isdisjoint({"plan", "untrusted"}):
        return
    asked = bool(world.ledger(Questions).granted_for(*target.ids)) or any(entry.word == "ask" for entry in about)
    proof = (target.line, *(entry.line for entry in about), *catalogues.proof(target))
    if harmful:
        yield seen("PERM-16")
        if not asked and all(entry.source == "mode" and not entry.rules for entry in allows):
            yield _finding(step, target, proof, "PERM-16", "a rule, a person, the host or a contract allows it", "mode")
            return
    if "plan" in modes and (harmful or target.read_only is False or writes_or_shell(target, catalogues)):
        yield _finding(step, target, proof, "PERM-17", "nothing that writes is allowed in mode plan", "plan")
    elif "plan" in modes:
        yield seen("PERM-17")
    if "untrusted" in modes:
        yield seen("PERM-18")
        if not asked and not is_read_only(target, catalogues):
            expected = "what is not known to be read-only is asked about in mode untrusted"
            yield _finding(step, target, proof, "PERM-18", expected, "untrusted")


def _finding(step, target, proof, clause, expected, mode):
    return finding(
        step,
        expected,
        f"{step.type} allowed in or by mode {mode}",
        clause=clause,
        entity=(target.kind, target.key),
        witness=proof,
        key=mode,
    )
