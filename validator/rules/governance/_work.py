"""Tool calls and processes: what was announced, and what was seen to run."""

from __future__ import annotations

from validator.protocol.honest import known
from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.governance._said import flat, held, payload, said, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOOL_RUNS = ("tool.progress", "tool.result")
RUNS = (*TOOL_RUNS, "process.started", "process.output", "process.input")
"""A process runs from its start, a call from its first progress or result."""
_RUNS = frozenset(RUNS)


@dataclass(slots=True)
class Target:
    """A tool call or a process: what was announced, and at which lines it was seen to run."""

    kind: str
    key: str
    line: int
    ids: tuple[str, ...]
    """Itself, and the call it belongs to."""
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
    earlier: dict[str, Any] | None = None
    """The arguments as they were before the last tool.args, and the line of that event."""
    earlier_line: int = 0
    ran: int | None = None
    last: int | None = None
    before: int | None = None
    """The run before the last one."""


class Work:
    """Tool calls and processes by id."""

    hears = ("tool.*", "process.*")
    forgets = ("calls", "processes", "first_to_rest_on")

    def __init__(self, world: World):
        self._step: Step | None = None
        """The step at hand, and what it speaks about."""
        self._target: Target | None = None
        self.calls: dict[str, Target] = {}
        self.processes: dict[str, Target] = {}
        self.first_to_rest_on: dict[str, Target] = {}
        """Reference of a decision to the first target that ran with it."""

    def alike(self, step: Step) -> bool:
        """False when the step is the first that shows its target at work, or told other arguments than before."""
        target = self._target
        if target is None:
            return True
        if step.type == "tool.args" and target.earlier != {"safe_args": target.safe_args, "args_ref": target.args_ref}:
            return False
        return target.ran != step.number

    def apply(self, step: Step) -> None:
        kind = step.type
        if step.kind != "event" or kind is None:
            return
        target = self._told(step) or self._announced(step)
        self._step, self._target = step, target
        if target is None:
            return
        if kind == "tool.args":
            target.earlier = {"safe_args": target.safe_args, "args_ref": target.args_ref}
            target.earlier_line = step.number
            target.args_ref = said(step.line, "args_ref") or target.args_ref
            target.safe_args = held(step.line, "safe_args") or target.safe_args
        elif kind in ("tool.result", "tool.failed"):
            target.safe_args = target.earlier = None
        if runs(step):
            target.ran = target.ran or step.number
            target.before, target.last = target.last, step.number
            if target.permission_ref:
                self.first_to_rest_on.setdefault(target.permission_ref, target)

    def of(self, step: Step) -> Target | None:
        """The call or process an event of either family speaks about; several rules ask the same of a step."""
        return self._target if self._step is step else self._told(step)

    def _told(self, step: Step) -> Target | None:
        kind = step.type or ""
        if kind.startswith("tool."):
            return self.calls.get(step.scope.get("tool_call_id", ""))
        return self.processes.get(step.scope.get("process_id", "")) if kind.startswith("process.") else None

    def _announced(self, step: Step) -> Target | None:
        """What an event of a call or process that was not heard of before announces, if it names it."""
        call, process = step.scope.get("tool_call_id"), step.scope.get("process_id")
        if step.type == "tool.started" and call:
            made = self.calls[call] = _call(call, step)
            return made
        if step.type == "process.started" and process:
            starter = self.calls.get(call or "")
            if starter is not None:
                starter.process = starter.process or step.number
            made = self.processes[process] = _process(process, step)
            return made
        return None


def _call(key: str, step: Step) -> Target:
    scope, told = step.scope.get, payload(step.line).get
    return Target(
        "tool_call",
        key,
        step.number,
        (key,),
        turn=scope("turn_id"),
        thread=scope("thread_id"),
        session=scope("session_id"),
        channel=scope("channel_id"),
        tool=text(told("tool_name")),
        args_ref=text(told("args_ref")),
        safe_args=known(told("safe_args")),
        digest=text(told("payload_hash")),
        action=text(told("approval_action_id")),
        permission_ref=text(told("permission_ref")),
        read_only=flat(told("is_read_only")),
        destructive=flat(told("is_destructive")),
    )


def _process(key: str, step: Step) -> Target:
    scope, told = step.scope.get, payload(step.line).get
    call, limits = scope("tool_call_id"), told("limits")
    return Target(
        "process",
        key,
        step.number,
        (key, call) if call else (key,),
        call=call,
        turn=scope("turn_id"),
        thread=scope("thread_id"),
        session=scope("session_id"),
        channel=scope("channel_id"),
        digest=flat(told("payload_hash")),
        permission_ref=flat(told("permission_ref")),
        destructive=flat(told("destructive")),
        stdin=known(limits.get("stdin")) if isinstance(limits, dict) else None,
    )


def runs(step: Step) -> bool:
    """True for an event that shows its call or process at work."""
    if step.type == "process.output":
        return payload(step.line).get("drained") is not True
    return step.type in _RUNS
