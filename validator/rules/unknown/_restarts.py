"""Work that was open when the runtime was stopped, until something is heard of it again."""

from __future__ import annotations

from validator.records import dataclass
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import GOOD, told

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

    def __init__(self, world: World):
        self._world = world
        self.silent: dict[tuple[str, str], int] = {}
        self.later: dict[int, int] = {}
        """Restarts after which the stream went on, with the first line of that."""
        self.first_words: list[Guess] = []
        self._last: int | None = None

    def apply(self, step: Step) -> None:
        self.first_words = []
        if step.kind == "restart":
            self._restart(step)
        elif step.kind == "event" and self._last is not None:
            self.later.setdefault(self._last, step.number)
            if self.silent:
                self._hear(step)

    def _restart(self, step: Step) -> None:
        runtime = step.line.get("runtime_id")
        self._last = step.number
        for subject in self._world.fold.open_work():
            owner = subject.scope.get("runtime_id")
            if subject.machine in CLAUSES and not subject.doubted and (owner is None or runtime in (None, owner)):
                self.silent[(subject.machine, subject.key)] = step.number

    def _hear(self, step: Step) -> None:
        for move in step.moves:
            line = self.silent.pop((move.machine, move.subject), None)
            if line is not None:
                good = move.target in GOOD and move.source not in GOOD and told(step, "reconciled") is not True
                self.first_words.append(Guess(move.machine, move.subject, move.source, line, good))
        for name, machine in IDS.items():
            if name in step.scope:
                self.silent.pop((machine, step.scope[name]), None)
