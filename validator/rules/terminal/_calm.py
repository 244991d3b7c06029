"""When the rules about ends have nothing to report."""

from __future__ import annotations

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import OpenWork, ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PARTS = {
    "turn": (
        ("action", "turn_id"),
        ("model_request", "turn_id"),
        ("process", "turn_id"),
        ("tool_call", "turn_id"),
    ),
    "task": (("action", "task_id"),),
    "tool_call": (("process", "tool_call_id"),),
}
"""What has to be over when something ends, and the identity by which it belongs to that."""


def nothing_left(step: Step, world: World, context: Any) -> tuple[str, ...] | None:
    """The key of an event by which only such work ended that had nothing open: of which machines."""
    found = ends(world, step, *_PARTS)
    if not found:
        return ()
    work = world.ledger(OpenWork)
    for move in found:
        for machine, name in _PARTS[move.machine]:
            if work.count(machine, name, move.subject):
                return None
    return tuple([move.machine for move in found])
