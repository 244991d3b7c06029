"""When the rules about moves have nothing to report."""

from __future__ import annotations

from validator.replay.step import Refusal, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def unrefused(step: Step, world: Any, context: Any) -> tuple[tuple[Any, ...], ...] | None:
    """The key of a line that was refused no move: the moves it made. Of an archived task, more is asked."""
    if step.refusals:
        return None
    if (step.type or "").startswith("task.") and world.state("task", step.scope.get("task_id")) == "archived":
        return None
    return tuple([(move.machine, move.target, move.source == "none", move.row.clause) for move in step.taken()])


def refused(step: Step, context: Any) -> list[Refusal]:
    """The moves that a line was refused; none where another reader takes the line for something else."""
    return [] if context.line.torn else step.refusals
