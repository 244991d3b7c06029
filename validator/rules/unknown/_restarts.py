"""Work that was open when the runtime was stopped, until something is heard of it again."""

from __future__ import annotations

from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.subject import Subject
from validator.replay.world import World
from validator.rules._silence import Silence
from validator.rules.terminal._work import GOOD, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLAUSES = {
    "turn": "HON-20",
    "attempt": "HON-20",
    "model_request": "HON-20",
    "tool_call": "HON-20",
    "hook": "HON-20",
    "task": "TASK-43",
    "subagent": "SUB-18",
    "job": "JOB-23",
    "process": "PROC-15",
}
IDS = {
    "turn_id": "turn",
    "run_id": "attempt",
    "model_request_id": "model_request",
    "request_id": "model_request",
    "tool_call_id": "tool_call",
    "hook_run_id": "hook",
    "task_id": "task",
    "subagent_id": "subagent",
    "job_id": "job",
    "process_id": "process",
}


@dataclass(frozen=True, slots=True)
class Guess:
    """An end that nothing after the restart had led to."""

    machine: str
    key: str
    state: str
    restart: int
    good: bool


class Restarts:
    """What was open at a restart and was not heard of since; what the step at hand says about it first."""

    since = ("record:restart",)
    heeds_last = False

    def __init__(self, world: World):
        self._world = world
        self.silent = Silence(world, _is_owned)
        self.later: dict[int, int] = {}
        """Restarts after which the stream went on, with the first line of that."""
        self.first_words: list[Guess] = []
        self._last: int | None = None

    def alike(self, step: Step) -> bool:
        return not self.first_words

    def apply(self, step: Step) -> None:
        self.first_words = []
        if step.kind == "restart":
            self._restart(step)
        elif step.kind == "event" and self._last is not None:
            self.later.setdefault(self._last, step.number)
            self._hear(step)

    def _restart(self, step: Step) -> None:
        self._last = step.number
        self.silent.restart(step.number, step.line.get("runtime_id"))

    def _hear(self, step: Step) -> None:
        for move in step.moves:
            line = self.silent.end((move.machine, move.subject))
            if line is not None:
                good = move.target in GOOD and move.source not in GOOD and told(step, "reconciled") is not True
                self.first_words.append(Guess(move.machine, move.subject, move.source, line, good))
        for name, machine in IDS.items():
            if name in step.scope:
                self.silent.end((machine, step.scope[name]))


def _is_owned(subject: Subject, runtime: Any) -> bool:
    """True for work that a runtime did, as far as anybody says."""
    owner = subject.scope.get("runtime_id")
    return subject.machine in CLAUSES and not subject.doubted and (owner is None or runtime in (None, owner))
