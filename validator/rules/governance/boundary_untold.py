"""A boundary or a violation leaves out what it is about, or a boundary grew without a decision.

Why: a boundary of which only the name is known cannot be compared with what was allowed.
Trips: sandbox.applied with nothing but the mode.  Near miss: the roots are honestly said to be unavailable.
Fix: State cwd, roots, network and limits; name the call or process; decide a permission before a boundary is widened.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._decisions import Boundaries, Decisions
from validator.rules.governance._said import said, stated

STATES = ("cwd", "read_roots", "write_roots", "network", "process_limits")
WIDTH = {"read_only": 0, "workspace_write": 1, "danger_full_access": 2}


@rule(
    "GOV027",
    "boundary-untold",
    clauses={"agent-runtime": ("SBX-8", "SBX-5", "SBX-6")},
    on=("sandbox.applied", "sandbox.violation"),
    needs=(Boundaries, Decisions),
)
def check(step, world, context):
    if step.type == "sandbox.violation":
        yield seen("SBX-5")
        if "tool_call_id" not in step.line and "process_id" not in step.line:
            yield finding(step, "the call or process that hit it", "neither is named", clause="SBX-5")
        return
    yield seen("SBX-8")
    missing = [name for name in STATES if stated(step.line, name, "sandbox_profile") is None]
    if missing and said(step.line, "mode", "sandbox_profile") != "danger_full_access":
        actual = f"no {', '.join(missing)}"
        yield finding(step, ", ".join(STATES), actual, pointer="/payload", clause="SBX-8", key=" ".join(missing))
    previous = world.ledger(Boundaries).previous
    if previous is None:
        return
    yield seen("SBX-6")
    if _wider(previous, step.line) and not _decided_since(step, world, previous["line"]):
        yield finding(
            step,
            "a permission decided before the boundary is widened",
            "a wider boundary and no decision in between",
            pointer="/payload",
            clause="SBX-6",
            witness=(previous["line"],),
        )


def _wider(previous, line):
    before, now = WIDTH.get(previous["mode"]), WIDTH.get(said(line, "mode", "sandbox_profile"))
    network = (previous["network"], said(line, "network", "sandbox_profile"))
    return (before is not None and now is not None and now > before) or network == ("restricted", "enabled")


def _decided_since(step, world, line):
    decisions = world.ledger(Decisions)
    keys = [step.scope[name] for name in ("tool_call_id", "process_id", "turn_id") if name in step.scope]
    return any(decisions.about[key][-1].line > line for key in keys if key in decisions.about)
