"""A call went on that a hook had blocked, or was still looking at.

Why: a guard that is not waited for guards nothing.
Trips: a hook before the use blocks the call, and the call yields tool.result.
Near miss: the hook says continue, then the call yields tool.result.
Fix: Wait for the hooks called before the use; end a blocked call by tool.failed with status denied.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._calm import unopposed
from validator.rules.governance._hooks import Hooks
from validator.rules.governance._said import refused_by_table
from validator.rules.governance._work import TOOL_RUNS, Work


@rule(
    "GOV020",
    "blocked-call-ran",
    clauses={"agent-runtime": ("HOOK-12", "HOOK-13")},
    on=(*TOOL_RUNS, "process.started"),
    needs=(Hooks, Work),
    quiet=unopposed,
)
def check(step, world, context):
    hooks, call = world.ledger(Hooks), world.ledger(Work).calls.get(step.scope.get("tool_call_id", ""))
    if call is None or refused_by_table(step, "tool_call"):
        return
    previous = call.before if step.type in TOOL_RUNS else call.last
    if call.key in hooks.blocked:
        yield seen("HOOK-12")
        if (previous or 0) < hooks.blocked[call.key]:
            lines = (hooks.blocked[call.key], *_lines(world, call.key))
            yield _finding(step, "HOOK-12", call, "nothing of a call that a hook blocked", "blocked", lines)
        return
    if call.key not in hooks.before_use:
        return
    yield seen("HOOK-13", "HOOK-12")
    running = hooks.before_use[call.key]
    if running and (previous or 0) < min(running.values()):
        lines = tuple(running.values())
        yield _finding(
            step, "HOOK-13", call, "nothing before the hooks called before the use ended", "hook running", lines
        )


def _lines(world, call):
    hooks = (subject for subject in world.subjects("hook").values() if subject.scope.get("tool_call_id") == call)
    return tuple(line for subject in hooks for line in subject.history)


def _finding(step, clause, call, expected, state, lines):
    return finding(
        step,
        expected,
        f"{step.type}, {state}",
        clause=clause,
        entity=("tool_call", call.key),
        state=state,
        witness=(call.line, *lines),
    )
