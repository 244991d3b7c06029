"""Tool calls and processes: what was announced, and what was seen to run."""

from __future__ import annotations

from typing import Any

from validator.protocol.honest import known
from validator.records import dataclass, field
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.governance._said import held, payload, said, word_said

TOOL_RUNS = ("tool.progress", "tool.result")
RUNS = (*TOOL_RUNS, "process.started", "process.output", "process.input")
"""A process runs from its start, a call from its first progress or result."""


@dataclass(slots=True)
class Target:
    """A tool call or a process: what was announced, and at which lines it was seen to run."""

    kind: str
    key: str
    line: int
    call: str | None = None
    """The call that started it, for a process."""
    process: int | None = None
    """The line of the first process that it started, for a call: it runs in that."""
    turn: str | None = None
    thread: str | None = None
    session: str | None = None
    channel: str | None = None
    tool: str | None = None
    args_ref: str | None = None
    safe_args: Any = None
    digest: str | None = None
    action: str | None = None
    """The action that is said to approve it."""
    permission_ref: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    stdin: bool | None = None
    """Its limits let it be written to."""
    earlier: dict[str, Any] = field(default_factory=dict)
    """The arguments as they were before the last tool.args, and the line of that event."""
    earlier_line: int = 0
    ran: int | None = None
    last: int | None = None
    before: int | None = None
    """The run before the last one."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Itself, and the call it belongs to."""
        return (self.key, self.call) if self.call else (self.key,)


class Work:
    """Tool calls and processes by id."""

    hears = ("tool.*", "process.*")
    forgets = ("calls", "processes", "first_to_rest_on")

    def __init__(self, world: World):
        self._now: tuple[Step | None, Target | None] = (None, None)
        """The step at hand, and what it speaks about."""
        self.calls: dict[str, Target] = {}
        self.processes: dict[str, Target] = {}
        self.first_to_rest_on: dict[str, Target] = {}
        """Reference of a decision to the first target that ran with it."""

    def alike(self, step: Step) -> bool:
        """False when the step is the first that shows its target at work."""
        return self._now[1] is None or self._now[1].ran != step.number

    def apply(self, step: Step) -> None:
        if step.kind != "event" or step.type is None:
            return
        target = self._told(step) or self._announced(step)
        self._now = (step, target)
        if target is None:
            return
        if step.type == "tool.args":
            target.earlier = {"safe_args": target.safe_args, "args_ref": target.args_ref}
            target.earlier_line = step.number
            target.args_ref = said(step.line, "args_ref") or target.args_ref
            target.safe_args = held(step.line, "safe_args") or target.safe_args
        elif step.type in {"tool.result", "tool.failed"}:
            target.safe_args, target.earlier = None, {}
        if runs(step):
            target.ran = target.ran or step.number
            target.before, target.last = target.last, step.number
            if target.permission_ref:
                self.first_to_rest_on.setdefault(target.permission_ref, target)

    def of(self, step: Step) -> Target | None:
        """The call or process an event of either family speaks about; several rules ask the same of a step."""
        return self._now[1] if self._now[0] is step else self._told(step)

    def _told(self, step: Step) -> Target | None:
        family = (step.type or "").partition(".")[0]
        if family == "process":
            return self.processes.get(step.scope.get("process_id", ""))
        return self.calls.get(step.scope.get("tool_call_id", "")) if family == "tool" else None

    def _announced(self, step: Step) -> Target | None:
        """What an event of a call or process that was not heard of before announces, if it names it."""
        call, process = step.scope.get("tool_call_id"), step.scope.get("process_id")
        if step.type == "tool.started" and call:
            return self.calls.setdefault(call, self._call(call, step))
        if step.type == "process.started" and process:
            starter = self.calls.get(call or "")
            if starter is not None:
                starter.process = starter.process or step.number
            return self.processes.setdefault(process, self._process(process, step))
        return None

    def _call(self, key: str, step: Step) -> Target:
        line = step.line
        return Target(
            "tool_call",
            key,
            step.number,
            **_places(step),
            tool=word_said(line, "tool_name"),
            args_ref=word_said(line, "args_ref"),
            safe_args=held(line, "safe_args"),
            digest=word_said(line, "payload_hash"),
            action=word_said(line, "approval_action_id"),
            permission_ref=word_said(line, "permission_ref"),
            read_only=said(line, "is_read_only"),
            destructive=said(line, "is_destructive"),
        )

    def _process(self, key: str, step: Step) -> Target:
        limits = held(step.line, "limits")
        return Target(
            "process",
            key,
            step.number,
            call=step.scope.get("tool_call_id"),
            **_places(step),
            digest=said(step.line, "payload_hash"),
            permission_ref=said(step.line, "permission_ref"),
            destructive=said(step.line, "destructive"),
            stdin=known(limits.get("stdin")) if isinstance(limits, dict) else None,
        )


def _places(step: Step) -> dict[str, str | None]:
    return {name: step.scope.get(f"{name}_id") for name in ("turn", "thread", "session", "channel")}


def runs(step: Step) -> bool:
    """True for an event that shows its call or process at work."""
    if step.type == "process.output":
        return payload(step.line).get("drained") is not True
    return step.type in RUNS
