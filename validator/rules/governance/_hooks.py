"""Hook runs under way, and what they hold back."""

from __future__ import annotations

from validator.records import dataclass, field
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.governance._said import said


@dataclass(slots=True)
class HookRun:
    """A hook run that has not ended, or whose word still binds."""

    line: int
    point: str | None
    call: str | None
    turn: str | None
    timeout: int | None = None
    scope: dict[str, str] = field(default_factory=dict)


class Hooks:
    """Hook runs under way, calls that a hook blocked, and turns that a stop hook holds back."""

    hears = ("hook.*", "model.*", "tool.*", "process.*", "reasoning.*")
    since = ("hook.*",)
    forgets = ("running", "before_use", "blocked", "held")
    heeds_last = False

    def __init__(self, world: World):
        self.running: dict[str, HookRun] = {}
        self.before_use: dict[str, dict[str, int]] = {}
        """Call to its hooks before use that still run."""
        self.blocked: dict[str, int] = {}
        self.held: dict[str, int] = {}
        self.ended: HookRun | None = None
        """The run that the current step ends."""

    def apply(self, step: Step) -> None:
        self.ended = None
        if step.kind != "event" or step.type is None:
            return
        if not step.type.startswith("hook."):
            if self.held:
                self._work(step)
            return
        key = next((move.subject for move in step.moves if move.machine == "hook"), None)
        if key is None:
            return
        if step.type == "hook.started":
            self._start(key, step)
        else:
            self._end(key, step)

    def _start(self, key: str, step: Step) -> None:
        limit = said(step.line, "timeout_ms")
        run = _told(step)
        run.timeout = limit if isinstance(limit, int) else None
        self.running[key] = run
        if run.point == "pre_tool_use" and run.call:
            self.before_use.setdefault(run.call, {})[key] = step.number

    def _end(self, key: str, step: Step) -> None:
        self.ended = self.running.pop(key, None)
        run = self.ended or _told(step)  # the line that started it may be lost
        if run.call in self.before_use:
            self.before_use[run.call].pop(key, None)
        if said(step.line, "decision", "hook_run") not in {"block", "deny"}:
            return
        if run.call and run.point in {"pre_tool_use", "permission_request"}:
            self.blocked.setdefault(run.call, step.number)
        elif run.turn and run.point == "stop":
            self.held[run.turn] = step.number

    def _work(self, step: Step) -> None:
        turn = step.scope.get("turn_id")
        if turn in self.held and step.type.startswith(("model.", "tool.", "process.", "reasoning.")):
            del self.held[turn]


def _told(step: Step) -> HookRun:
    """A run as one of its lines tells it."""
    point, scope = said(step.line, "hook_point", "hook_run"), step.scope
    return HookRun(step.number, point, scope.get("tool_call_id"), scope.get("turn_id"), scope=scope)
