"""What the rules of RunAgents remember: actions with what was first said of them, and what each run waits for."""

from __future__ import annotations

from datetime import datetime

from validator.protocol.formats import instant
from validator.protocol.honest import known
from validator.records import dataclass, field
from validator.replay.readmodels.runagents import bare_hash, data_of
from validator.replay.readmodels.words import word
from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOOLS = ("TOOL_REQUEST", "TOOL_CALLED", "TOOL_RESPONSE")
DECISIONS = ("APPROVED", "REJECTED")


def expects(world: Any, context: Any) -> str | None:
    """Whether the capture is complete or a prefix; None when nobody says."""
    return context.options.expect or world.header.get("completeness")


def words(**values: Any) -> dict[str, str]:
    """The values that are known words."""
    return {name: value for name, value in values.items() if isinstance(known(value), str)}


def said_of_action(step: Step) -> dict[str, str]:
    """What a line says about an action; empty when it names none."""
    if step.kind == "event":
        data = data_of(step.line)
        found = words(
            action=data.get("action_id"),
            run=step.line.get("run_id"),
            request=data.get("request_id"),
            tool=data.get("tool_id", data.get("tool")),
            capability=data.get("capability"),
            hash=bare_hash(step.line.get("payload_hash")),
            scope=data.get("scope"),
            expires_at=data.get("expires_at"),
        )
    elif step.kind == "snapshot" and step.type in {"blocked_action", "approval_request"}:
        found = _said_by_record(step)
    else:
        return {}
    return found if "action" in found else {}


def _said_by_record(step: Step) -> dict[str, str]:
    record = step.line.get("snapshot")
    record = record if isinstance(record, dict) else {}
    return words(
        action=record.get("action_id"),
        run=record.get("run_id"),
        request=record.get("id" if step.type == "approval_request" else "request_id"),
        tool=record.get("tool_id", record.get("tool")),
        capability=record.get("capability"),
        hash=bare_hash(record.get("payload_hash")),
        scope=record.get("scope"),
        expires_at=record.get("expires_at"),
    )


@dataclass(slots=True)
class Action:
    """What was first said about an action, each with the line that said it."""

    first: dict[str, tuple[str, int]] = field(default_factory=dict)
    approved: int | None = None
    """Line of the event or record that approved it."""
    granted: int | None = None
    """Line of the first event that logs the grant."""
    retried: int | None = None
    """Line of the first tool event that names it."""


def told(world: Any, action: str) -> tuple[int, ...]:
    """The lines that brought an action where it stands."""
    subject = world.subjects("blocked_action").get(action)
    return tuple(subject.history) if subject else ()


class Actions:
    """Every action a line names."""

    forgets = ("known",)

    def __init__(self, world: Any):
        self.known: dict[str, Action] = {}

    def apply(self, step: Step) -> None:
        """Keeps what is said for the first time."""
        said = said_of_action(step)
        if said:
            action = self.known.setdefault(said["action"], Action())
            for name, value in said.items():
                action.first.setdefault(name, (value, step.number))
            if step.type == "APPROVED":
                action.granted = action.granted or step.number
            elif step.type in TOOLS:
                action.retried = action.retried or step.number
        for move in step.moves:
            if move.machine == "blocked_action" and move.target == "approved" != move.source:
                entry = self.known.setdefault(move.subject, Action())
                entry.approved = entry.approved or step.number


@dataclass(slots=True)
class Pause:
    """A run that waits for the sake of one action, until the step that explains how the wait ended."""

    action: str
    line: int
    resumed: int | None = None
    """The line at which the run went on."""
    approved: bool = False
    refused: bool = False
    """The state table has already said what is wrong."""
    rejected_at: datetime | None = None
    """When the action's record says it was rejected."""
    held: int | None = None
    """The first record that still says paused although it was changed after the rejection."""


class Pauses:
    """The action each run waits for. A wait that has ended is still there for the rules of that step."""

    def __init__(self, world: Any):
        self._world = world
        self._over: set[str] = set()
        self._runs: dict[str, str] = {}
        self.of: dict[str, Pause] = {}
        self.now: list[tuple[str, Pause]] = []
        """Those that the present step concerns."""

    def apply(self, step: Step) -> None:
        """Learns which action a run waits for, and how the wait ends."""
        for run in self._over:
            self._runs.pop(self.of.pop(run).action, None)
        self._over.clear()
        self._named(step)
        self.now = self._concerned(step)
        for run, pause in self.now:
            self._learn(step, run, pause)
            if self._is_over(run, pause):
                self._over.add(run)

    def _concerned(self, step: Step) -> list[tuple[str, Pause]]:
        moved = dict.fromkeys(entry.subject for entry in (*step.moves, *step.refusals))
        runs = dict.fromkeys(self._runs.get(key, key) for key in moved)
        run = step.scope.get("run_id", "")
        if run in self.of and any(self.of[run].action in refusal.beside for refusal in step.refusals):
            runs[run] = None
        return [(run, self.of[run]) for run in runs if run in self.of]

    def _is_over(self, run: str, pause: Pause) -> bool:
        if self._world.protocol.machines["run"].is_terminal(self._world.state("run", run) or ""):
            return True
        settled = self._world.state("blocked_action", pause.action) not in {"blocked", None}
        return pause.resumed is not None and (pause.approved or pause.refused or settled)

    def _learn(self, step: Step, run: str, pause: Pause) -> None:
        for move in step.moves:
            if move.subject == run and move.machine == "run" and move.target == "RUNNING" != move.source:
                pause.resumed = pause.resumed or step.number
            if move.subject == pause.action and move.target == "approved":
                pause.approved = True
        if any(one.subject in {run, pause.action} or pause.action in one.beside for one in step.refusals):
            pause.refused = True
        record = step.line.get("snapshot")
        if step.type == "blocked_action" and isinstance(record, dict) and record.get("status") == "REJECTED":
            pause.rejected_at = pause.rejected_at or instant(record.get("updated_at"))
        time = instant(step.line.get("updated_at")) if step.kind == "run" else None
        if time and pause.rejected_at and time > pause.rejected_at and pause.held is None:
            pause.held = step.number

    def _named(self, step: Step) -> None:
        if step.kind == "run" and step.line.get("status") == "PAUSED_APPROVAL":
            run, action = word(step.line, "id"), word(step.line, "blocked_action_id")
        elif step.type == "APPROVAL_REQUIRED" and step.kind == "event":
            run, action = word(step.line, "run_id"), word(data_of(step.line), "action_id")
        else:
            return
        if run is None or action is None or self._world.state("run", run) != "PAUSED_APPROVAL":
            return
        if run not in self.of or self.of[run].action != action:
            if run in self.of:
                self._runs.pop(self.of[run].action, None)
            self.of[run] = Pause(action, step.number)
            self._runs[action] = run
