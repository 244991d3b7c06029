"""What the rules of agent-threads ask about records and snapshots."""

from __future__ import annotations

from validator.replay.readmodels.words import word
from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT = ("committed", "superseded")


def expects(world: Any, context: Any) -> str | None:
    """Whether the capture is complete or a prefix; None when nobody says."""
    return context.options.expect or world.header.get("completeness")


def served(step: Step, model: str) -> dict[str, Any] | None:
    """The snapshot of a model that a line carries; an event of that name is none, whatever it holds."""
    snapshot = step.line.get("snapshot") if step.kind == "snapshot" and step.type == model else None
    return snapshot if isinstance(snapshot, dict) else None


def entries(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing when the list is honestly unknown."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def payload(step: Step) -> dict[str, Any]:
    """The payload of a stored event."""
    event = step.line.get("event")
    inner = event.get("payload") if isinstance(event, dict) else None
    return inner if isinstance(inner, dict) else {}


def stream_of(step: Step) -> str:
    """The stream an event is in."""
    return word(step.line, "streamId") or ""


def run_of(step: Step) -> str:
    """The run whose stream an event is in."""
    return step.scope.get("run_id", "")
