"""Permissions and boundaries: who decided about which work, and what was applied around it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from validator.protocol.formats import instant
from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.governance._said import held, permits, said
from validator.rules.governance._work import Target


@dataclass(frozen=True, slots=True)
class Decision:
    """One permission event about a target."""

    line: int
    event: str
    word: str | None
    source: str | None
    mode: str | None
    scope: str | None
    action: str | None
    expires: datetime | None
    destructive: bool | None
    rules: Any
    interactive: bool | None

    @property
    def allows(self) -> bool:
        return self.word in {"allow", "allowed", "sandboxed"}

    @property
    def decides(self) -> bool:
        return self.event in {"permission.evaluated", "permission.resolved"}


class Decisions:
    """Permission events by target; those that name only a turn stand under the turn."""

    hears = ("permission.*",)
    forgets_faded = ("about", "linked")

    def __init__(self, world: World):
        self.about: dict[str, list[Decision]] = {}
        self.linked: dict[str, list[str]] = {}
        """Action to the targets whose permission it stands for."""

    def apply(self, step: Step) -> None:
        if step.kind != "event" or not (step.type or "").startswith("permission."):
            return
        target = target_of(step)
        if target is None:
            return
        found = decision_of(step)
        self.about.setdefault(target, []).append(found)
        if found.action and target not in self.linked.setdefault(found.action, []):
            self.linked[found.action].append(target)

    def of(self, target: Target) -> list[Decision]:
        """What was decided about a target, or about the call that started it."""
        found = [entry for key in target.ids for entry in self.about.get(key, ())]
        return sorted(found, key=lambda entry: entry.line) if len(found) > 1 else found

    def on_record(self, target: Target) -> bool:
        keys = (*target.ids, target.turn or "")
        return any(entry.decides for key in keys for entry in self.about.get(key, ()))


def target_of(step: Step) -> str | None:
    names = ("tool_call_id", "process_id", "action_id", "peer_task_id", "turn_id")
    return next((step.scope[name] for name in names if name in step.scope), None)


def decision_of(step: Step) -> Decision:
    line = step.line
    return Decision(
        step.number,
        step.type or "",
        permits(line, "decision"),
        permits(line, "decision_source"),
        permits(line, "mode"),
        permits(line, "scope"),
        permits(line, "approval_action_id"),
        instant(permits(line, "expires_at")),
        permits(line, "destructive"),
        held(line, "rule_refs", "permission_decision"),
        said(line, "interactive"),
    )


class Boundaries:
    """For which calls, processes and turns a boundary was applied."""

    hears = ("sandbox.applied",)
    forgets_faded = ("applied",)

    def __init__(self, world: World):
        self.applied: dict[str, dict[str, Any]] = {}
        self.previous: dict[str, Any] | None = None
        """What held for the target of the current step before it."""

    def apply(self, step: Step) -> None:
        self.previous = None
        if step.type != "sandbox.applied":
            return
        names = ("process_id", "tool_call_id", "turn_id", "thread_id", "session_id")
        key = next((step.scope[name] for name in names if name in step.scope), "")
        self.previous = self.applied.get(key)
        self.applied[key] = {
            "line": step.number,
            "mode": said(step.line, "mode", "sandbox_profile"),
            "network": said(step.line, "network", "sandbox_profile"),
        }

    def around(self, target: Target) -> bool:
        keys = (*target.ids, target.turn, target.thread, target.session, "")
        return any(key in self.applied for key in keys if key is not None)
