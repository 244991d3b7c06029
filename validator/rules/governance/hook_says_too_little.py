"""A hook does not say what it decided, why it blocked, or what its failure means.

Why: a hook can stop and slow down things; that is fine only where it is visible.
Trips: hook.completed with decision block and no block_reason.  Near miss: the same with a reason.
Fix: State decision and duration_ms when it completed, block_reason when it blocks, failure_behavior when it failed.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._said import said, stated


@rule(
    "GOV025",
    "hook-says-too-little",
    clauses={"agent-runtime": ("HOOK-10", "HOOK-18", "HOOK-6")},
    on=("hook.completed", "hook.failed"),
)
def check(step, world, context):
    if step.type == "hook.failed":
        yield from _judge(step, "HOOK-6", "failure_behavior")
        return
    yield from _judge(step, "HOOK-18", "decision", "duration_ms")
    if said(step.line, "decision", "hook_run") == "block":
        yield from _judge(step, "HOOK-10", "block_reason")


def _judge(step, clause, *names):
    yield seen(clause)
    missing = [name for name in names if stated(step.line, name, "hook_run") is None]
    if missing:
        yield finding(
            step, ", ".join(names), f"no {', '.join(missing)}", pointer="/payload", clause=clause, key=" ".join(missing)
        )
