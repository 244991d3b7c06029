"""When the rules about moves have nothing to report."""

from __future__ import annotations

from typing import Any

from validator.replay.step import Refusal, Step


def unrefused(step: Step, world: Any, context: Any) -> tuple[tuple[Any, ...], ...] | None:
    """The key of a line that was refused no move: the moves it made. Events of tasks are asked for archived ones."""
    if step.refusals or (step.type or "").startswith("task."):
        return None
    return tuple([(move.machine, move.target, move.source == "none", move.row.clause) for move in step.moves])


def refused(step: Step, context: Any) -> list[Refusal]:
    """The moves that a line was refused; none where another reader takes the line for something else."""
    return [] if context.line.torn else step.refusals
