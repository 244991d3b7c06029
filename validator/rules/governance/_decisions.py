"""Permissions and boundaries: who decided about which work, and what was applied around it."""

from __future__ import annotations

from collections.abc import Iterator

from validator.protocol.formats import instant
from validator.protocol.honest import known
from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.governance._said import BESIDE, flat, payload, said
from validator.rules.governance._work import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

TARGETS = frozenset({"tool_call_id", "process_id", "action_id", "peer_task_id"})
"""What a permission can be about, beside a turn as a whole."""
AGAINST = {
    "denied": "PERM-13",
    "timed_out": "PERM-13",
    "cancelled": "PERM-13",
    "asking": "PERM-9",
    "requested": "PERM-9",
    "unavailable": "PERM-5",
}
"""States of a permission in which nothing may run, to the clause that says so."""


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


class About(list[Decision]):
    """What was decided about one target, in order, with what is asked about all of it."""

    __slots__ = ("_asked", "barred", "decides", "linked", "resolved", "strict")

    def __init__(self) -> None:
        super().__init__()
        self.decides = False
        """One of them decides."""
        self.strict = False
        """One of them says that nobody can be asked."""
        self.barred: Decision | None = None
        """The first that asks where nobody can be asked."""
        self.linked: Decision | None = None
        """The last that names an action."""
        self._asked: str | None = None
        self.resolved: dict[str, Decision] = {}
        """Action to the first resolution that it stands for; whoever is asked again is asked by another action."""

    def add(self, found: Decision) -> None:
        self.append(found)
        self.decides = self.decides or found.decides
        if found.mode == "never":
            self.strict = True
            if found.word == "ask" and self.barred is None:
                self.barred = found
        if found.action:
            self.linked, self._asked = found, found.action
        if found.event == "permission.resolved" and self._asked is not None:
            self.resolved.setdefault(self._asked, found)

    def lines(self) -> Iterator[int]:
        return (entry.line for entry in self)


class Decisions:
    """Permission events by target; those that name only a turn stand under the turn."""

    hears = ("permission.*",)
    forgets_faded = ("about", "linked")

    def __init__(self, world: World):
        self.about: dict[str, About] = {}
        self.linked: dict[str, dict[str, None]] = {}
        """Action to the targets whose permission it stands for."""
        self.latest: Decision | None = None
        """The last one that names a target."""

    def apply(self, step: Step) -> None:
        if step.kind != "event" or not (step.type or "").startswith("permission."):
            return
        target = target_of(step)
        if target is None:
            return
        self.latest = found = decision_of(step)
        about = self.about.get(target)
        if about is None:
            about = self.about[target] = About()
        about.add(found)
        if found.action:
            self.linked.setdefault(found.action, {})[target] = None

    def of(self, target: Target) -> list[Decision]:
        """What was decided about a target, or about the call that started it."""
        found = [entry for key in target.ids for entry in self.about.get(key, ())]
        return sorted(found, key=lambda entry: entry.line) if len(found) > 1 else found

    def on_record(self, target: Target) -> bool:
        keys = (*target.ids, target.turn or "")
        return any(self.about[key].decides for key in keys if key in self.about)


def target_of(step: Step) -> str | None:
    scope = step.scope
    for name in ("tool_call_id", "process_id", "action_id", "peer_task_id", "turn_id"):
        if name in scope:
            return scope[name]
    return None


def decision_of(step: Step) -> Decision:
    told, record = payload(step.line), step.line.get(BESIDE)
    beside = record if isinstance(record, dict) else {}

    def either(name: str) -> Any:
        value = told.get(name)
        return beside.get(name) if value is None else value

    expires = either("expires_at")
    return Decision(
        step.number,
        step.type or "",
        flat(either("decision")),
        flat(either("decision_source")),
        flat(either("mode")),
        flat(either("scope")),
        flat(either("approval_action_id")),
        None if expires is None else instant(flat(expires)),
        flat(either("destructive")),
        known(either("rule_refs")),
        flat(told.get("interactive")),
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
        scope, key = step.scope, ""
        for name in ("process_id", "tool_call_id", "turn_id", "thread_id", "session_id"):
            if name in scope:
                key = scope[name]
                break
        self.previous = self.applied.get(key)
        self.applied[key] = {
            "line": step.number,
            "mode": said(step.line, "mode", "sandbox_profile"),
            "network": said(step.line, "network", "sandbox_profile"),
        }

    def around(self, target: Target) -> bool:
        # Without an id it is a boundary around everything; an id that is missing is no key.
        applied = self.applied
        return (
            target.key in applied
            or target.call in applied
            or target.turn in applied
            or target.thread in applied
            or target.session in applied
            or "" in applied
        )


class PolicyModes:
    """The mode that the last policy.changed of each session stated."""

    hears = ("policy.changed",)
    forgets = ("set",)

    def __init__(self, world: World):
        self.set: dict[str, tuple[str, int]] = {}

    def apply(self, step: Step) -> None:
        mode = said(step.line, "mode") if step.type == "policy.changed" and step.kind == "event" else None
        if isinstance(mode, str):
            self.set[step.scope.get("session_id", "")] = (mode, step.number)
