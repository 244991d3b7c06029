"""The catalogue of tools in force for a turn, else for its thread or session."""

from __future__ import annotations

from typing import Any

from validator.protocol.honest import known
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import told

FLAGS = ("is_read_only", "is_destructive", "is_concurrency_safe")


def flag(body: Any, name: str) -> bool | None:
    """A flag that is told, or None."""
    value = known(body.get(name)) if isinstance(body, dict) else None
    return value if isinstance(value, bool) else None


class Catalogues:
    """The newest catalogue of each turn, thread and session, with its line; turns that called before they had one."""

    hears = ("tool.catalog.resolved", "tool.started")
    forgets = ("called",)
    forgets_faded = ("_newest",)

    def __init__(self, world: World):
        self._newest: dict[tuple[str, str], tuple[int, dict[str, Any] | None]] = {}
        self.called: dict[str, int] = {}

    def apply(self, step: Step) -> None:
        if step.type == "tool.catalog.resolved":
            tools = told(step, "tools")
            listed = None
            if isinstance(tools, list):
                listed = {str(entry.get("tool_name")): entry for entry in tools if isinstance(entry, dict)}
            name = next((name for name in ("turn_id", "thread_id", "session_id") if name in step.scope), None)
            if name is not None:
                self._newest[(name, step.scope[name])] = (step.number, listed)
        elif step.type == "tool.started" and "turn_id" in step.scope:
            turn = step.scope["turn_id"]
            if ("turn_id", turn) not in self._newest:
                self.called.setdefault(turn, step.number)

    def of(self, step: Step) -> tuple[int, dict[str, Any] | None] | None:
        """The catalogue in force for the turn of an event."""
        for name in ("turn_id", "thread_id", "session_id"):
            found = self._newest.get((name, step.scope.get(name, "")))
            if found is not None:
                return found
        return None

    def line(self, place: tuple[str, str]) -> float:
        """Where the newest catalogue of a thread or session stands."""
        found = self._newest.get(place)
        return found[0] if found else float("inf")
