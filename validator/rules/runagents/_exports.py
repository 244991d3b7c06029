"""What the rules about exports remember: the events and actions of each run so far."""

from __future__ import annotations

from validator.jsontext import write
from validator.protocol.digest import blake2b
from validator.replay.readmodels.words import word
from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def digest(event: dict[str, Any]) -> bytes:
    """A digest of an event that does not depend on the order of its keys."""
    return blake2b(write(event).encode(), digest_size=12).digest()


def export_of(step: Step) -> dict[str, Any] | None:
    """The audit export a line carries, when it has the shape of one."""
    export = step.line.get("snapshot") if step.type == "audit_export" else None
    if not isinstance(export, dict) or word(export.get("run"), "id") is None:
        return None
    return export if isinstance(export.get("events"), list) and isinstance(export.get("actions", []), list) else None


def entries(export: dict[str, Any], name: str) -> list[tuple[int, dict[str, Any]]]:
    """The objects of a list in an export, each with its position."""
    value = export.get(name)
    return [(at, entry) for at, entry in enumerate(value if isinstance(value, list) else ()) if isinstance(entry, dict)]


class Exported:
    """Events and actions of every run, with the line that told of each."""

    forgets = ("events", "actions")

    def __init__(self, world: Any):
        self.events: dict[str, dict[str, tuple[bytes, int]]] = {}
        self.actions: dict[str, dict[str, int]] = {}

    def apply(self, step: Step) -> None:
        """Keeps a digest of each event and the first line of each action."""
        run, name = step.line.get("run_id"), step.line.get("event_id")
        if step.kind == "event" and isinstance(run, str) and isinstance(name, str):
            self.events.setdefault(run, {}).setdefault(name, (digest(step.line), step.number))
        for move in step.moves:
            owner = step.scope.get("run_id")
            if move.machine == "blocked_action" and move.source == "none" and owner:
                self.actions.setdefault(owner, {})[move.subject] = step.number
