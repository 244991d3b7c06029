"""A hook that guards a tool use or a permission request failed, and work went on without it.

Why: whoever wants to pass the guard only has to make it fail.
Trips: a pre_tool_use hook fails open for a call that is not known to be read-only.
Near miss: it fails open for a call that is declared read-only.
Fix: Let guards fail closed; only hooks that add context may fail open.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import END, Finding, rule, seen
from validator.rules._catalogues import Catalogues
from validator.rules.governance._danger import is_read_only
from validator.rules.governance._hooks import Hooks
from validator.rules.governance._said import said
from validator.rules.governance._work import Work

GUARDS = {"pre_tool_use", "permission_request"}


class OpenGuards:
    """Guards that failed open, until the call is known; it may be declared read-only after its hook failed."""

    hears = ("hook.failed",)

    def __init__(self, world: World):
        self.world = world
        self.failed: list[tuple[int, int | None, str | None]] = []

    def apply(self, step: Step) -> None:
        if step.type != "hook.failed" or said(step.line, "failure_behavior", "hook_run") != "fail_open":
            return
        run = self.world.ledger(Hooks).ended
        point = said(step.line, "hook_point", "hook_run") or (run.point if run else None)
        if point in GUARDS:
            self.failed.append((step.number, run.line if run else None, step.scope.get("tool_call_id")))


@rule(
    "GOV023",
    "guard-failed-open",
    clauses={"agent-runtime": "HOOK-7"},
    on=END,
    needs=(OpenGuards, Hooks, Work, Catalogues),
)
def check(step, world, context):
    work, catalogues = world.ledger(Work), world.ledger(Catalogues)
    for line, started, call in world.ledger(OpenGuards).failed:
        yield seen()
        target = work.calls.get(call or "")
        if target is None or not is_read_only(target, catalogues):
            lines = (started, target.line if target else None)
            yield Finding(
                line,
                "a guard fails closed, unless the call is known to be read-only",
                "fail_open",
                pointer="/payload/failure_behavior",
                entity=("tool_call", call) if call else None,
                witness=tuple(entry for entry in lines if entry),
            )
