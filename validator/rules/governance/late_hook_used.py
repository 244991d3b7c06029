"""A hook that took longer than its time was told as completed.

Why: its answer came when the decision was already made without it, or everything waited for it longer than was agreed.
Trips: hook.started with timeout_ms 100, then hook.completed with duration_ms 900.
Near miss: hook.failed with timed_out true after the same time.
Fix: Tell a hook that exceeds its time by hook.failed, and drop its answer.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._hooks import Hooks
from validator.rules.governance._said import said


@rule(
    "GOV022",
    "late-hook-used",
    clauses={"agent-runtime": "HOOK-5"},
    on=("hook.completed", "hook.failed"),
    needs=(Hooks,),
)
def check(step, world, context):
    run = world.ledger(Hooks).ended
    if run is None or run.timeout is None:
        return
    took = said(step.line, "duration_ms", "hook_run")
    if not isinstance(took, int | float):
        return
    yield seen()
    if step.type == "hook.completed" and took > run.timeout:
        yield finding(
            step,
            "hook.failed after the time it has",
            "hook.completed",
            pointer="/payload/duration_ms",
            witness=(run.line,),
        )
