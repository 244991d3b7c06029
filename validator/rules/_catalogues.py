"""The catalogue of tools in force for a turn, else for its thread or session."""

from __future__ import annotations

from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FLAGS = ("is_read_only", "is_destructive", "is_concurrency_safe")
RESERVED = {"denied": "TOOL-15", "unavailable": "TOOL-15", "ask": "TOOL-16"}
"""Policies under which a tool yields no result that nobody decided on, to the clause that says so."""
_SCOPES = ("turn_id", "thread_id", "session_id")
_ANYWHERE = ("", "")


def flag(body: Any, name: str) -> bool | None:
    """A flag that is told, or None."""
    value = body.get(name) if isinstance(body, dict) else None
    return value if isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The tools in force, by name; None where the event does not list them."""

    line: int
    tools: dict[str, dict[str, Any]] | None
    mode: str | None


class Catalogues:
    """The newest catalogue of each turn, thread and session; turns that called before they had one."""

    hears = ("tool.catalog.resolved", "tool.started")
    forgets = ("called",)
    forgets_faded = ("_newest",)

    def __init__(self, world: World):
        self._newest: dict[tuple[str, str], Catalogue] = {}
        self.called: dict[str, int] = {}

    def apply(self, step: Step) -> None:
        if step.kind != "event":
            return
        if step.type == "tool.catalog.resolved":
            place = next(((name, step.scope[name]) for name in _SCOPES if name in step.scope), _ANYWHERE)
            self._newest[place] = _catalogue(step)
        elif step.type == "tool.started":
            turn = step.scope.get("turn_id")
            if turn is not None and ("turn_id", turn) not in self._newest:
                self.called.setdefault(turn, step.number)

    def of(self, step: Step) -> Catalogue | None:
        """The catalogue in force for the turn of an event."""
        scope = step.scope
        return self._in_force(scope.get("turn_id"), scope.get("thread_id"), scope.get("session_id"))

    def line(self, place: tuple[str, str]) -> float:
        """Where the newest catalogue of a thread or session stands."""
        found = self._newest.get(place)
        return found.line if found else float("inf")

    def for_call(self, target: Any) -> Catalogue | None:
        """The catalogue in force for the turn of a call."""
        return self._in_force(target.turn, target.thread, target.session)

    def entry(self, target: Any) -> dict[str, Any] | None:
        """What the catalogue in force says about the tool of a call."""
        found = self.for_call(target)
        return found.tools.get(target.tool or "") if found and found.tools else None

    def proof(self, target: Any) -> tuple[int, ...]:
        """The line of the catalogue that says what the tool of a call is, if one does."""
        found = self.for_call(target)
        return (found.line,) if found and self.entry(target) else ()

    def _in_force(self, turn: str | None, thread: str | None, session: str | None) -> Catalogue | None:
        # An empty id names nothing.
        newest = self._newest
        return (
            (newest.get(("turn_id", turn)) if turn else None)
            or (newest.get(("thread_id", thread)) if thread else None)
            or (newest.get(("session_id", session)) if session else None)
            or newest.get(_ANYWHERE)
        )


def _catalogue(step: Step) -> Catalogue:
    tools, mode = told(step, "tools"), told(step, "mode")
    listed = [entry for entry in tools if _named(entry)] if isinstance(tools, list) else None
    named = None if listed is None else {entry["tool_name"]: entry for entry in listed}
    return Catalogue(step.number, named, mode if isinstance(mode, str) else None)


def _named(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("tool_name"), str)
