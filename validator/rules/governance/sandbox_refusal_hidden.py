"""What the sandbox refused is reported as an ordinary failure.

Why: who reads "failed" tries again; who reads "the sandbox refused it" asks for the right to do it.
Trips: sandbox.violation of a call, then its tool.failed with the category tool.
Near miss: tool.failed with the category sandbox.
Fix: Give the failure the category sandbox, or refer to the violation.
"""

from __future__ import annotations

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules.governance._said import held, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENDS = {"tool.failed": "tool_call_id", "process.failed": "process_id"}


class Violations:
    """The last violation of each call and process, as long as it is the last thing heard of it."""

    hears = ("sandbox.violation", "tool.*", "process.*")
    since = ("sandbox.violation",)
    forgets = ("last",)
    heeds_last = False

    def __init__(self, world: World):
        self.last: dict[str, tuple[int, str | None]] = {}

    def apply(self, step: Step) -> None:
        if step.kind != "event" or step.type is None:
            return
        last, call, process = self.last, step.scope.get("tool_call_id"), step.scope.get("process_id")
        if step.type == "sandbox.violation":
            for key in (call, process):
                if key is not None:
                    last[key] = (step.number, said(step.line, "violation_ref"))
        elif (
            (call in last or process in last) and step.type not in ENDS and step.type.startswith(("tool.", "process."))
        ):
            last.pop(call, None)
            last.pop(process, None)


@rule(
    "GOV026",
    "sandbox-refusal-hidden",
    clauses={"agent-runtime": "SBX-4"},
    on=tuple(ENDS),
    needs=(Violations,),
)
def check(step, world, context):
    violations, key = world.ledger(Violations), step.scope.get(ENDS[step.type], "")
    if key not in violations.last or said(step.line, "status") in {"cancelled", "lost", "timed_out"}:
        return
    line, ref = violations.last[key]
    yield seen()
    error = held(step.line, "error")
    words = {said(step.line, "failure_category"), str(error.get("category")) if isinstance(error, dict) else None}
    if "sandbox" in words or (ref is not None and _holds(step.line, ref)):
        return
    kind = "tool_call" if step.type == "tool.failed" else "process"
    subject = world.subjects(kind).get(key)
    yield finding(
        step,
        "the category sandbox, or a reference to the violation",
        "an ordinary failure",
        pointer="/payload",
        entity=(kind, key),
        witness=(line, *(subject.history[:-1] if subject else ())),
    )


def _holds(value: Any, ref: str) -> bool:
    """True when a reference stands anywhere in a document."""
    if isinstance(value, dict):
        return any(_holds(entry, ref) for entry in value.values())
    if isinstance(value, list):
        return any(_holds(entry, ref) for entry in value)
    return value == ref
