"""What rules about ends have to remember: who owns open work, which children a task has, and how it was tried."""

from __future__ import annotations

from collections.abc import Iterator

from validator.protocol.honest import known
from validator.records import dataclass, field
from validator.replay.step import Move, Step
from validator.replay.subject import Subject
from validator.replay.world import About, World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GOOD = frozenset({"completed", "succeeded"})
_NUMBERS = (int, float)


def told(step: Step, name: str) -> Any:
    """A field of the payload, or None when it is absent or honestly said to be missing."""
    payload = step.line.get("payload")
    if not isinstance(payload, dict):
        return None
    value = payload.get(name)
    return known(value) if isinstance(value, dict) else value


def body(step: Step) -> dict[str, Any]:
    """The payload, empty where there is none that could be read."""
    payload = step.line.get("payload")
    return payload if isinstance(payload, dict) else {}


def word(step: Step, name: str) -> str | None:
    """A text of the payload, or None."""
    value = told(step, name)
    return value if isinstance(value, str) else None


def entries(step: Step, name: str) -> list[Any]:
    """The elements of a list in the payload."""
    value = told(step, name)
    return value if isinstance(value, list) else []


def words(step: Step, name: str) -> list[str]:
    """The texts of a list in the payload."""
    value = told(step, name)
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def number(value: Any) -> int | float | None:
    """A number, or None for anything else; truth values are no numbers."""
    return value if isinstance(value, _NUMBERS) and not isinstance(value, bool) else None


def unsure(world: World, about: About = None) -> bool:
    """True when a fact that is not in the capture may still have been told."""
    return world.midway(about) or world.unproved(about) is not None


def ends(world: World, step: Step, *machines: str) -> list[Move]:
    """Moves of a step by which a subject of these machines came to its end."""
    found = []
    for move in step.moves:
        if move.source != move.target and move.machine in machines:
            machine = world.protocol.machines[move.machine]
            if machine.is_terminal(move.target) and not machine.is_terminal(move.source):
                found.append(move)
    return found


def lines(*subjects: Subject | None) -> tuple[int, ...]:
    """The lines that brought subjects to where they stand."""
    return tuple(line for subject in subjects if subject for line in subject.history)


def tracks(world: World, step: Step) -> tuple[int, ...]:
    """The lines that brought the subjects of a step to where they stand."""
    return lines(*(world.subjects(move.machine).get(move.subject) for move in step.moves))


FILED = {
    "action": ("task_id", "turn_id", "thread_id"),
    "attempt": ("task_id",),
    "job_item": ("job_id",),
    "model_request": ("turn_id",),
    "process": ("turn_id", "tool_call_id"),
    "tool_call": ("turn_id",),
    "turn": ("thread_id",),
}
"""Machine to the identities under which rules look for its open subjects."""


class OpenWork:
    """Open subjects by those identities they were seen with that rules look for."""

    hears = tuple(f"move:{machine}" for machine in FILED)
    forgets = ("_by", "_filed")
    heeds_last = False

    def __init__(self, world: World):
        self._subjects = world.fold.subjects
        tables = world.protocol.machines
        self._open = {name: frozenset(filter(tables[name].is_open, tables[name].states)) for name in FILED}
        """Machine to the states in which its subjects are open."""
        self._by: dict[tuple[str, str, str], dict[str, None]] = {}
        self._filed: dict[tuple[str, str], int] = {}
        """With how many identities each open subject was seen when it was filed."""

    def apply(self, step: Step) -> None:
        for move in step.moves:
            machine, key = move.machine, move.subject
            names = FILED.get(machine)
            if names is None:
                continue
            subject = self._subjects[machine][key]
            scope, filed = subject.scope, (machine, key)
            if subject.state in self._open[machine]:
                if self._filed.get(filed) != len(scope):
                    self._filed[filed] = len(scope)
                    for name in names:
                        if name in scope:
                            self._by.setdefault((machine, name, scope[name]), {})[key] = None
                continue
            self._filed.pop(filed, None)
            for name in names:
                place = (machine, name, scope.get(name, ""))
                others = self._by.get(place)
                if others is not None:
                    others.pop(key, None)
                    if not others:
                        del self._by[place]

    def count(self, machine: str, name: str, value: str) -> int:
        """How many open subjects were seen with an identity, at most."""
        return len(self._by.get((machine, name, value), ()))

    def of(self, machine: str, name: str, value: str) -> Iterator[Subject]:
        """Open subjects of a machine that were seen with an identity, unless a gap made them doubtful."""
        if name not in FILED[machine]:
            raise KeyError(name)
        subjects = self._subjects[machine]
        for key in self._by.get((machine, name, value), ()):
            if not subjects[key].doubted:
                yield subjects[key]


_HANDED = {"child": "task", "spawned_subagent": "subagent"}
"""Kinds of edges by which a task hands work on, to what is at the other end."""


class Children:
    """What hangs below each task: child tasks, subagents, jobs and processes, and the line that said so."""

    hears = ("move:task", "task.*", "subagent.spawned", "job.created", "process.started")
    forgets = ("below", "above", "_handed")

    def __init__(self, world: World):
        self._world = world
        self.below: dict[str, dict[tuple[str, str], int]] = {}
        self.above: dict[str, str] = {}
        self._handed: set[tuple[str, str, str]] = set()
        """Task, kind and id of children that are such by a delegation alone, which may be taken back."""
        self.cancelling: set[str] = set()
        """Tasks that are being cancelled."""

    def apply(self, step: Step) -> None:
        scope = step.scope
        for move in step.moves:
            if move.machine == "task":
                (self.cancelling.add if move.target == "cancelling" else self.cancelling.discard)(move.subject)
        if step.type == "task.created" and "parent_task_id" in scope and "task_id" in scope:
            self._link(scope["parent_task_id"], "task", scope["task_id"], step)
        elif step.type == "task.delegated" and "task_id" in scope:
            kind, target = told(step, "target_kind"), told(step, "target_id")
            if kind in ("task", "subagent", "job") and isinstance(target, str):
                self._link(scope["task_id"], kind, target, step, handed=True)
        elif step.type == "task.dependency.updated" and "task_id" in scope:
            self._take_back(scope["task_id"], told(step, "relationship"), told(step, "operation"))
        elif step.type == "subagent.spawned" and "subagent_id" in scope:
            parent = told(step, "parent_task_id") or scope.get("task_id")
            if isinstance(parent, str):
                self._link(parent, "subagent", scope["subagent_id"], step)
        elif step.type == "job.created" and "task_id" in scope and "job_id" in scope:
            self._link(scope["task_id"], "job", scope["job_id"], step)
        elif step.type == "process.started" and "task_id" in scope and "process_id" in scope:
            self._link(scope["task_id"], "process", scope["process_id"], step)
        elif step.type == "task.archived" and "task_id" in scope:
            self.below.pop(scope["task_id"], None)

    def _link(self, task: str, machine: str, key: str, step: Step, handed: bool = False) -> None:
        if machine == "task":
            if key == task:
                return
            self.above.setdefault(key, task)
        below = self.below.setdefault(task, {})
        if not handed:
            self._handed.discard((task, machine, key))
        elif (machine, key) not in below:
            self._handed.add((task, machine, key))
        below.setdefault((machine, key), step.number)

    def _take_back(self, task: str, edge: Any, operation: Any) -> None:
        """Forgets a child that a task handed work to, when the edge is said to be gone; who was born below it stays."""
        if not isinstance(edge, dict) or not (operation == "unlinked" or edge.get("status") == "removed"):
            return
        kind, key = edge.get("kind"), edge.get("target_id")
        machine = _HANDED.get(kind, "") if isinstance(kind, str) else ""
        if isinstance(key, str) and (task, machine, key) in self._handed:
            self._handed.remove((task, machine, key))
            self.below.get(task, {}).pop((machine, key), None)
            if machine == "task" and self.above.get(key) == task:
                del self.above[key]

    def open(self, task: str, *machines: str) -> Iterator[tuple[Subject, int]]:
        """Children of a task that are neither over nor lost nor in doubt, each with the line that linked it."""
        for (machine, key), line in self.below.get(task, {}).items():
            subject = self._world.subjects(machine).get(key)
            if machine not in machines or subject is None or subject.doubted:
                continue
            if self._world.protocol.machines[machine].is_open(subject.state):
                yield subject, line

    def upwards(self, task: str | None) -> Iterator[str]:
        """A task and what it is part of, nearest first."""
        met: set[str] = set()
        while task is not None and task not in met:
            met.add(task)
            yield task
            task = self.above.get(task)


@dataclass(slots=True)
class Try:
    """One attempt as it was announced."""

    run: str
    line: int
    count: int | float | None = None
    retryable: bool | None = None
    ended: int | None = None


@dataclass(slots=True)
class Story:
    """How one task was tried so far."""

    created: int | None = None
    parallel: bool = False
    attempts: list[Try] = field(default_factory=list)
    retrying: int | None = None
    """The line of a retry that no attempt has followed."""
    overwritten: bool = False
    """What followed the last retry was an attempt under an id of an earlier one."""
    next_run: str | None = None
    trigger: str | None = None
    asked: bool = False
    """A person asked for the next attempt."""
    limit: int | float | None = None
    answered: tuple[int | None, str | None, str | None, bool] = (None, None, None, False)
    """The retry that the newest attempt followed: its line, the run it named, its trigger, whether a person asked."""


class Attempts:
    """The attempts of each task; the step at hand is already in it."""

    hears = ("record:command", "task.*")
    forgets = ("stories",)

    def __init__(self, world: World):
        self.stories: dict[str, Story] = {}

    def of(self, task: str | None) -> Story:
        return self.stories.setdefault(task or "", Story())

    def apply(self, step: Step) -> None:
        if step.kind == "command" and step.line.get("command") == "retry_task":
            request = step.line.get("request")
            if isinstance(request, dict) and isinstance(request.get("task_id"), str):
                self.of(request["task_id"]).asked = True
        task = step.scope.get("task_id")
        if task is None or step.kind != "event":
            return
        if step.type == "task.created":
            story = self.of(task)
            story.created, story.parallel = step.number, told(step, "parallel_attempts") is True
        elif step.type == "task.retrying":
            story = self.of(task)
            story.retrying, story.trigger, story.overwritten = step.number, told(step, "trigger"), False
            story.next_run = told(step, "next_run_id")
            story.asked = story.asked or story.trigger == "user_rerun"
        elif step.type == "task.attempt.started":
            self._started(step, self.of(task))
        elif step.type == "task.attempt.failed":
            for attempt in self.of(task).attempts:
                if attempt.run == step.scope.get("run_id"):
                    attempt.ended = step.number
                    retryable = told(step, "retryable")
                    attempt.retryable = retryable if isinstance(retryable, bool) else attempt.retryable
        elif step.type == "task.archived":
            self.stories.pop(task, None)

    def _started(self, step: Step, story: Story) -> None:
        run = step.scope.get("run_id")
        if run is None:
            return
        if any(attempt.run == run for attempt in story.attempts):
            story.overwritten = True
            return
        story.answered = (story.retrying, story.next_run, story.trigger, story.asked)
        story.retrying, story.next_run, story.trigger, story.asked = None, None, None, False
        policy = told(step, "retry_policy")
        if isinstance(policy, dict):
            story.limit = number(known(policy.get("max_attempts"))) or story.limit
        story.attempts.append(Try(run, step.number, number(told(step, "attempt_count"))))
