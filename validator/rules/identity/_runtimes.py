"""Remembers the runtime of every session."""

from __future__ import annotations

from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Runtimes:
    """The runtime that each session was last told under."""

    given = ("runtime_id",)
    forgets = ("_last",)
    heeds_last = False

    def __init__(self, _world: Any):
        self._last: dict[str, tuple[str, int]] = {}
        self.same = False
        self.other: tuple[str, int] | None = None
        """The runtime told before, and the line that told it."""

    def alike(self, step: Step) -> bool:
        return self.same or "runtime_id" not in step.scope

    def apply(self, step: Step) -> None:
        self.same, self.other = False, None
        session, runtime = step.scope.get("session_id"), step.scope.get("runtime_id")
        if step.kind != "event" or session is None or runtime is None:
            return
        last = self._last.get(session)
        if last is not None and last[0] != runtime:
            self.other = last
        self.same = last is not None and last[0] == runtime
        if last is None or last[0] != runtime:
            self._last[session] = (runtime, step.number)
