"""Child agents, jobs and their items."""

from __future__ import annotations

import functools
from typing import Any

from validator.records import dataclass, field
from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.records import Later, as_list, as_record, distinct, present
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, SESSION, Scope, Scopes

PARENTS = {
    "parent_session_id": "session_id",
    "parent_thread_id": "thread_id",
    "parent_turn_id": "turn_id",
    "parent_task_id": "task_id",
}
SPAWNED = ("child_thread_id", "role", "nickname", "isolation", "model_policy")
PROGRESS = ("pending", "running", "completed", "failed", "cancelled", "reported")


class Subagents(Collector):
    """Child agents of a session."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "subagent.spawned": "_spawned",
        "subagent.completed": "_summary",
        "subagent.output": "_summary",
        "subagent.failed": "_failed",
    }

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.told: dict[str, dict[str, Any]] = {}

    def _spawned(self, fact: Fact) -> None:
        entry = self.told.setdefault(fact.ids["subagent_id"], {})
        for name, envelope in PARENTS.items():
            told = fact.payload.get(name)
            entry[name] = told if told is not None else fact.line.get(envelope)
        for name in SPAWNED:
            entry[name] = self.facts.records.field("subagent", name, fact.payload.get(name))

    def _summary(self, fact: Fact) -> None:
        if (summary := fact.payload.get("summary")) is not None:
            self.told.setdefault(fact.ids["subagent_id"], {})["summary"] = summary

    def _failed(self, fact: Fact) -> None:
        error = self.facts.records.field("subagent", "last_error", fact.payload.get("error"))
        self.told.setdefault(fact.ids["subagent_id"], {})["last_error"] = error

    def ids(self, scope: Scope) -> list[str]:
        """Children, or those whose parent is the thread, in order."""
        known = self.facts.known("subagent", "subagent_id", SESSION)
        if scope.thread is None:
            return known
        mine = [key for key in known if self.told.get(key, {}).get("parent_thread_id") == scope.thread]
        return self.facts.mentions.order("subagent_id", mine, scope)

    def record(self, key: str) -> dict[str, Any]:
        """The entry of a child."""
        return self.facts.entry("subagent_id", key, self._child)

    def _child(self, key: str) -> dict[str, Any]:
        told = present(**self.told.get(key, {}))
        closed = self.facts.state("subagent", key) == "closed"
        known = isinstance(told.get("child_thread_id"), str)
        recoverable = not closed if known or closed else None
        status = self.facts.status("subagent", key)
        return present(subagent_id=key, status=status, recoverable=recoverable, **told)

    def scopes(self, key: str) -> Scopes:
        """The session, and the thread that is the parent of a child."""
        if key not in self.facts.introduced.get("subagent", {}):
            return NOWHERE
        parent = self.told.get(key, {}).get("parent_thread_id")
        return frozenset((SESSION, *((Scope(parent),) if isinstance(parent, str) else ())))

    def graph(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        """Who began whom, and in which threads they work."""
        edges = [edge for entry in entries for edge in _edges(entry)]
        nodes = distinct(node for edge in edges for node in (edge["from_id"], edge["to_id"]))
        return {"nodes": nodes, "edges": edges}


def _edges(entry: dict[str, Any]) -> list[dict[str, Any]]:
    key, parents = entry["subagent_id"], (entry.get("parent_task_id"), entry.get("parent_thread_id"))
    parent = next((parent for parent in parents if isinstance(parent, str)), None)
    ends = [(parent, "spawned_subagent", key), (key, "assigned_thread", entry.get("child_thread_id"))]
    return [
        {"from_id": start, "kind": kind, "to_id": end, "status": "active"}
        for start, kind, end in ends
        if isinstance(start, str) and isinstance(end, str)
    ]


@dataclass(slots=True)
class Job:
    """What events told of one job and its items."""

    said: dict[str, Any] = field(default_factory=dict)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    threads: list[Any] = field(default_factory=list)
    seen_threads: set[str] = field(default_factory=set)
    seen_tasks: set[str] = field(default_factory=set)


class Jobs(Collector):
    """Jobs of a session."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "job.created": "_created",
        "job.started": "_started",
        "job.progress": "_progress",
        "job.completed": "_progress",
        "job.failed": "_progress",
        "job.cancelled": "_progress",
        "job.item.*": "_item",
    }
    carries = ("job_id",)

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.jobs: dict[str, Job] = {}
        self.jobs_of: dict[str, dict[str, None]] = {}
        """The jobs that list each item."""

    def _job(self, fact: Fact) -> Job:
        return self.jobs.setdefault(fact.ids.get("job_id", ""), Job())

    def meet(self, fact: Fact) -> None:
        job = self._job(fact)
        if "task_id" in fact.ids:
            job.said.setdefault("task_id", fact.ids["task_id"])
            job.seen_tasks.add(fact.ids["task_id"])
        if "thread_id" in fact.ids:
            job.seen_threads.add(fact.ids["thread_id"])

    def _created(self, fact: Fact) -> None:
        job = self._job(fact)
        for name in ("instruction_ref", "input_refs", "output_schema_ref", "max_runtime_ms", "item_cursor"):
            job.said[name] = fact.told(name, "job")
        job.said["created_at"] = fact.time
        for item in as_list(fact.told("items", "job")):
            told = present(**{name: as_record(item).get(name) for name in ("input_ref", "attempt_count")})
            if isinstance(key := as_record(item).get("job_item_id"), str):
                job.items.setdefault(key, {}).update(told)
                self.jobs_of.setdefault(key, {})[fact.ids.get("job_id", "")] = None

    def _started(self, fact: Fact) -> None:
        job = self._job(fact)
        job.threads = distinct([*job.threads, *as_list(fact.told("assigned_thread_ids", "job"))])

    def _progress(self, fact: Fact) -> None:
        if (progress := fact.told("progress", "job")) is not None:
            self._job(fact).said["progress"] = self.facts.records.field("job", "progress", progress)

    def _item(self, fact: Fact) -> None:
        job, key = self._job(fact), fact.ids.get("job_item_id", "")
        item = job.items.setdefault(key, {})
        self.jobs_of.setdefault(key, {})[fact.ids.get("job_id", "")] = None
        for name in ("attempt_count", "assignment", "output_ref", "last_error", "retryable"):
            if (value := fact.told(name, "job_item")) is not None:
                item[name] = self.facts.records.field("job_item", name, value)
        if fact.type == "job.item.started":
            job.starts[key] = job.starts.get(key, 0) + 1

    def ids(self, scope: Scope) -> list[str]:
        """Jobs, or those whose events carry the thread's id or that of a task of the thread, in order."""
        known = self.facts.known("job", "job_id", SESSION)
        if scope.thread is None:
            return known
        mine = [key for key in known if self._is_of(self.jobs[key], scope.thread)]
        return self.facts.mentions.order("job_id", mine, scope)

    def _is_of(self, job: Job, thread: str) -> bool:
        tasks = (self.facts.belonging.of("task_id", task) for task in job.seen_tasks)
        return thread in job.seen_threads or thread in tasks

    def record(self, key: str) -> dict[str, Any]:
        """The entry of a job."""
        return self.facts.entry("job_id", key, self._record)

    def _record(self, key: str) -> dict[str, Any]:
        job = self.jobs[key]
        return {**self.head(key), "items": [self.item(key, item) for item in self._items(job)]}

    def head(self, key: str) -> dict[str, Any]:
        """The entry of a job without its items."""
        job, end = self.jobs[key], self.facts.end("job", key)
        said = {name: value for name, value in job.said.items() if name != "progress"}
        return present(
            job_id=key,
            status=self.facts.status("job", key),
            progress=job.said["progress"] if "progress" in job.said else self._counted(job),
            assigned_thread_ids=self._threads(job),
            ended_at=end.time if end else None,
            **said,
        )

    def scopes(self, key: str) -> Scopes:
        """The session, and the threads that a job counts for."""
        if key not in self.facts.introduced.get("job", {}):
            return NOWHERE
        job = self.jobs[key]
        threads = {*job.seen_threads, *(self.facts.belonging.of("task_id", task) for task in job.seen_tasks)}
        return frozenset((SESSION, *(Scope(thread) for thread in threads if thread)))

    def _items(self, job: Job) -> list[str]:
        """Items that exist: one that only an event without a row named is none."""
        return [item for item in job.items if self.facts.state("job_item", item)]

    def item(self, key: str, item: str) -> dict[str, Any]:
        """The entry of one item of a job."""
        job = self.jobs[key]
        status, starts = self.facts.status("job_item", item), job.starts.get(item, 0)
        return present(job_item_id=item, job_id=key, status=status) | {"attempt_count": starts, **job.items[item]}

    def _counted(self, job: Job) -> dict[str, int]:
        states = [self.facts.state("job_item", item) for item in self._items(job)]
        return {word: states.count(word) for word in PROGRESS} | {"total": len(states)}

    def _threads(self, job: Job) -> list[str]:
        assigned = (as_record(item.get("assignment")).get("thread_id") for item in job.items.values())
        return distinct([*job.threads, *(thread for thread in assigned if isinstance(thread, str))])


def build(facts: Facts, scope: Scope) -> dict[str, Any] | None:
    """The `subagent_job_summary`."""
    children, batches = facts.of(Subagents), facts.of(Jobs)
    mine, theirs = children.ids(scope), batches.ids(scope)
    if not mine and not theirs:
        return None
    entries = functools.cache(lambda: [children.record(key) for key in mine])
    jobs = functools.cache(lambda: [batches.record(key) for key in theirs])
    return {
        "subagents": Later(entries),
        "graph": Later(lambda: children.graph(entries())),
        "jobs": Later(jobs),
        "assigned_thread_ids": Later(lambda: distinct(one for job in jobs() for one in job["assigned_thread_ids"])),
        "recoverable_ids": Later(lambda: [entry["subagent_id"] for entry in entries() if entry.get("recoverable")]),
    }
