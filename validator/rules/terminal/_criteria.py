"""The acceptance criteria of each task, as they were told last."""

from __future__ import annotations

from validator.protocol.honest import known
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def listed(step: Step) -> list[dict[str, Any]] | None:
    """The criteria an event lists, in its payload or beside it; None when it lists none."""
    value = told(step, "acceptance")
    if value is None:
        record = step.line.get("task")
        value = known(record.get("acceptance")) if isinstance(record, dict) else None
    if value is None:
        return None
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else None


class Criteria:
    """The last list before the step at hand, with its line."""

    hears = ("task.*",)
    forgets = ("_told",)

    def __init__(self, world: World):
        self._told: dict[str, tuple[int, list[dict[str, Any]]]] = {}
        self.before: tuple[int, list[dict[str, Any]]] | None = None

    def apply(self, step: Step) -> None:
        task = step.scope.get("task_id")
        if task is None or step.type is None or not step.type.startswith("task."):
            return
        self.before = self._told.get(task)
        criteria = listed(step)
        if criteria is not None:
            self._told[task] = (step.number, criteria)
        if step.type == "task.archived":
            self._told.pop(task, None)
