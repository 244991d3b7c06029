"""Artifacts, evidence and delivery as events and snapshots told of them."""

from __future__ import annotations

from validator.replay.faded import Lines
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMES = {"artifact_id": "artifact", "evidence_id": "evidence"}
DEMANDS = ("artifacts_required", "evidence_required", "delivery_required")


class Results:
    """What was told, for whom, and what each task's creation demanded."""

    hears = ("record:snapshot", "snapshot.*", "artifact.changed", "evidence.changed", "task.*")
    forgets = ("known", "deleted")
    forgets_faded = ("for_task", "delivery", "demands")

    def __init__(self, world: World):
        self.known: dict[str, Lines] = {"artifact": Lines(), "evidence": Lines()}
        self.deleted: dict[str, int] = {}
        self.for_task: dict[str, set[str]] = {"artifact": set(), "evidence": set()}
        self.delivery: dict[str, tuple[str, int]] = {}
        self.demands: dict[str, dict[str, int]] = {}

    def apply(self, step: Step) -> None:
        if step.kind == "snapshot" or (step.type or "").startswith("snapshot."):
            self._collect(step.line, step.number)
        elif step.type == "artifact.changed":
            self._tell(step, "artifact", "artifact_id")
            self._note_deletion(step)
        elif step.type == "evidence.changed":
            self._tell(step, "evidence", "evidence_id")
        task = step.scope.get("task_id")
        if task is None or not (step.type or "").startswith("task."):
            return
        if step.type == "task.created":
            wanted = {name: step.number for name in DEMANDS if told(step, name) is True}
            if wanted:
                self.demands[task] = wanted
        state = told(step, "delivery_state") or step.line.get("delivery_state")
        if isinstance(state, str):
            self.delivery[task] = (state, step.number)

    def _tell(self, step: Step, kind: str, name: str) -> None:
        if name in step.scope:
            self.known[kind].setdefault(step.scope[name], step.number)
        if "task_id" in step.scope:
            self.for_task[kind].add(step.scope["task_id"])

    def _note_deletion(self, step: Step) -> None:
        artifact, change = step.scope.get("artifact_id"), told(step, "change")
        if artifact is not None and change == "deleted":
            self.deleted[artifact] = step.number
        elif artifact is not None and change in ("created", "updated"):
            self.deleted.pop(artifact, None)

    def _collect(self, value: Any, line: int) -> None:
        if isinstance(value, list):
            for entry in value:
                self._collect(entry, line)
        elif isinstance(value, dict):
            for name, entry in value.items():
                if name in NAMES and isinstance(entry, str):
                    self.known[NAMES[name]].setdefault(entry, line)
                elif isinstance(entry, dict | list):
                    self._collect(entry, line)
