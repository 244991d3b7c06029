"""Jobs and their items: how many there are, where each stands, and how often it was tried."""

from __future__ import annotations

from collections import Counter

from validator.protocol.honest import known
from validator.records import dataclass, field
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import number, told


@dataclass(slots=True)
class Item:
    """One item of a job."""

    started: int
    """The line at which it was last heard of as tried."""
    count: int | float = 0
    listed: bool = False
    output: str | None = None
    output_line: int = 0


@dataclass(slots=True)
class Job:
    """One job as it was created."""

    line: int
    listed: tuple[str, ...] = ()
    complete: bool = False
    """Every item is listed by name."""
    size: int | float | None = None
    items: dict[str, Item] = field(default_factory=dict)
    states: Counter[str] = field(default_factory=Counter)
    reported: dict[str, str] = field(default_factory=dict)
    """Reported items, and how each had ended."""
    retried: tuple[str, int] | None = None
    """The item that was tried again last, and where."""


class Jobs:
    """The jobs that are not over, and the step's item as it was before the step."""

    hears = ("job.*",)
    forgets = ("jobs",)

    def __init__(self, world: World):
        self._world = world
        self.jobs: dict[str, Job] = {}
        self.before: Item | None = None

    def of(self, step: Step) -> Job | None:
        return self.jobs.get(step.scope.get("job_id") or "")

    def apply(self, step: Step) -> None:
        self.before = None
        if not (step.type or "").startswith("job."):
            return
        if step.type == "job.created" and "job_id" in step.scope:
            self.jobs.setdefault(step.scope["job_id"], self._created(step))
        job = self.of(step) or self._owner(step)
        if job is None:
            return
        for move in step.moves:
            if move.machine == "job_item":
                self._moved(job, move.subject, move.source, move.target)
        name = step.scope.get("job_item_id")
        if name is not None and step.type.startswith("job.item.") and not step.refusals:
            self._item(step, job, name)

    def _owner(self, step: Step) -> Job | None:
        """The job that the step's item was seen with, where the step names none."""
        item = self._world.subjects("job_item").get(step.scope.get("job_item_id", ""))
        return self.jobs.get(item.scope.get("job_id", "")) if item and "job_id" not in step.scope else None

    def _created(self, step: Step) -> Job:
        items = told(step, "items")
        entries = [entry for entry in items if isinstance(entry, dict)] if isinstance(items, list) else []
        named = {name: entry for entry in entries if isinstance(name := entry.get("job_item_id"), str)}
        names = tuple(named)
        size = number(told(step, "item_count"))
        whole = bool(names) and told(step, "item_cursor") is None and size in (None, len(names))
        job = Job(step.number, names, whole, len(names) if whole else size)
        for name, entry in named.items():
            count = number(known(entry.get("attempt_count"))) or 0
            job.items[name] = Item(step.number, count, listed=True)
        return job

    def _moved(self, job: Job, name: str, source: str, target: str) -> None:
        if source != "none":
            job.states[source] -= 1
        job.states[target] += 1
        if target == "reported":
            job.reported[name] = source if source == "failed" else "completed"

    def _item(self, step: Step, job: Job, name: str) -> None:
        old = job.items.get(name)
        self.before = None if old is None else Item(old.started, old.count, old.listed, old.output, old.output_line)
        item = job.items.setdefault(name, Item(step.number))
        count = number(told(step, "attempt_count"))
        if step.type == "job.item.started":
            if item.count:
                job.retried = (name, step.number)
            item.started, item.count = step.number, count if count is not None else item.count + 1
        output = told(step, "output_ref")
        if step.type == "job.item.completed" and isinstance(output, str) and item.output is None:
            item.output, item.output_line = output, step.number

    def lines(self, step: Step) -> tuple[int, ...]:
        """The lines that tell of the step's job and of its item."""
        job, item = self._world.subjects("job"), self._world.subjects("job_item")
        found = (job.get(step.scope.get("job_id", "")), item.get(step.scope.get("job_item_id", "")))
        return tuple(line for subject in found if subject for line in subject.history)

    def reported(self, job: Job, ended_as: str) -> int:
        """How many reported items had ended so."""
        return sum(word == ended_as for word in job.reported.values())
