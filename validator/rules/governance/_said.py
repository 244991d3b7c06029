"""What an event of this family says, and what the capture may not hold of it."""

from __future__ import annotations

from validator.protocol.honest import known
from validator.protocol.regex import compiled
from validator.replay.step import Step
from validator.replay.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BESIDE = "permission_decision"
"""The record that may stand beside the payload of a permission event."""
_FLAT = (str, bool, int, float)


def payload(line: dict[str, Any]) -> dict[str, Any]:
    value = line.get("payload")
    return value if isinstance(value, dict) else {}


def stated(line: dict[str, Any], name: str, beside: str = "") -> Any:
    """A field of the payload, else of the record beside it; an honest value counts as stated."""
    value = payload(line).get(name)
    if value is None and beside:
        record = line.get(beside)
        value = record.get(name) if isinstance(record, dict) else None
    return value


def held(line: dict[str, Any], name: str, beside: str = "") -> Any:
    """The same, or None where it is only honestly said to be missing."""
    return known(stated(line, name, beside))


def said(line: dict[str, Any], name: str, beside: str = "") -> Any:
    """The same for a word, a number or a flag; None for anything else, which the schema reports."""
    return flat(stated(line, name, beside))


def flat(value: Any) -> Any:
    """A word, a number or a flag; None for anything else."""
    return value if isinstance(value, _FLAT) else None


def text(value: Any) -> str | None:
    """A word; None for anything else."""
    return value if isinstance(value, str) else None


def shown(word: Any) -> str:
    """A word of a vocabulary as it is; anything else is not repeated in a finding."""
    return word if isinstance(word, str) and compiled(r"[a-z_]{1,20}").fullmatch(word) else "another word"


def permits(line: dict[str, Any], name: str) -> Any:
    return said(line, name, BESIDE)


def refused_by_table(step: Step, machine: str) -> bool:
    """True when the state table already refuses the move, so that nothing more is said about it."""
    return any(entry.machine == machine for entry in step.refusals)


def hidden(world: World, step: Step) -> bool:
    """True when what a turn was told may lie outside the capture: before it, in a gap or in an unreadable line."""
    turn = world.subjects("turn").get(step.scope.get("turn_id", ""))
    if turn is None or not turn.history:
        return world.midway(step) or world.unproved(step) is not None
    return lost_since(world, turn.history[0], step)


def lost_since(world: World, line: int, about: Step | None = None) -> bool:
    """True when a gap or an unreadable line came after a line."""
    return (world.unproved(about) or 0) > line
