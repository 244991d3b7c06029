"""A hook failed open, and no warning says for what.

Why: work went on without a check, and somebody may want to find it.
Trips: hook.failed with fail_open, and no runtime.warning carries the ids of the call.
Near miss: runtime.warning with the same tool_call_id follows.
Fix: Emit runtime.warning with the ids that the hook was called for.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import is_prefix
from validator.rules.governance._hooks import Hooks
from validator.rules.governance._said import said

IDS = ("hook_run_id", "tool_call_id", "turn_id", "session_id")


class OpenFailures:
    """Hooks that failed open and await a warning."""

    hears = ("hook.failed", "runtime.warning")

    def __init__(self, world: World):
        self.world = world
        self.waiting: dict[int, tuple[int | None, dict[str, str]]] = {}
        self.warned = 0

    def apply(self, step: Step) -> None:
        if step.type == "hook.failed" and said(step.line, "failure_behavior", "hook_run") == "fail_open":
            run = self.world.ledger(Hooks).ended
            self.waiting[step.number] = (run.line if run else None, step.scope)
        elif step.type == "runtime.warning" and self.waiting:
            covered = [line for line, (_, scope) in self.waiting.items() if _covers(step.scope, scope)]
            self.warned += len(covered)
            for line in covered:
                del self.waiting[line]


def _covers(warning: dict[str, str], hook: dict[str, str]) -> bool:
    """True when a warning carries the narrowest id the hook was called for, or the hook's own."""
    if "hook_run_id" in hook and warning.get("hook_run_id") == hook["hook_run_id"]:
        return True
    name = next((name for name in IDS[1:] if name in hook), None)
    return name is None or warning.get(name) == hook[name]


@rule("GOV024", "open-failure-unwarned", clauses={"agent-runtime": "HOOK-9"}, on=END, needs=(OpenFailures, Hooks))
def check(step, world, context):
    failures = world.ledger(OpenFailures)
    for _ in range(failures.warned):
        yield seen()
    if is_prefix(world, context):
        return
    for line, (started, scope) in failures.waiting.items():
        if (world.unproved(scope) or 0) > line:
            continue
        call = scope.get("tool_call_id")
        yield Finding(
            line,
            "runtime.warning with the ids the hook was called for",
            "no such warning follows",
            entity=("tool_call", call) if call else None,
            witness=(started,) if started else (),
        )
