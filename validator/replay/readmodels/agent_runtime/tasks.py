"""Tasks, their attempts and edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from validator.records import dataclass, field
from validator.replay.readmodels.agent_runtime.artifacts import Artifacts
from validator.replay.readmodels.agent_runtime.evidence import Evidence
from validator.replay.readmodels.agent_runtime.facts import LOST, Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.records import as_record, present
from validator.replay.readmodels.agent_runtime.routing import copied
from validator.replay.readmodels.agent_runtime.scope import SESSION, Scope

ENVELOPE = ("parent_task_id", "root_task_id", "session_id", "thread_id", "turn_id")
DESCRIBED = (
    "title",
    "objective",
    "task_kind",
    "visibility",
    "scope",
    "constraints",
    "requested_by",
    "owner",
    "assignee",
    "priority",
)
ACTIONS = {"task.waiting": "action_ids", "task.blocked": "required_action_ids"}
DRAWN = {"task": "child", "subagent": "spawned_subagent"}
"""The edge that a delegation draws when it names none, after what it leads to."""


@dataclass(slots=True)
class Edge:
    """One edge of a task, known by kind and target."""

    drawn: int
    drawn_at: Any
    status: Any = None
    removed: bool = False
    reason: Any = None
    created_at: Any = None
    updated_at: Any = None

    @property
    def shown(self) -> Any:
        if self.removed:
            return "removed"
        return self.status if self.status is not None else "active"


@dataclass(slots=True)
class Task:
    """What events told of one task."""

    said: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)
    row: dict[str, Any] = field(default_factory=dict)
    """Reason and required actions, of the latest event by which it took a row of its own."""
    attempts: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: dict[tuple[str, str], Edge] = field(default_factory=dict)
    lost_worker: Any = None
    delivery_required: Any = None
    updated_at: Any = None
    """The time of the last event that changed the record."""


class Tasks(Collector):
    """Tasks of a session."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "task.*": "_any",
        "task.created": "_created",
        "task.accepted": "_described",
        "task.updated": "_described",
        "task.completed": "_completed",
        "task.started": "_started",
        "task.progress": "_progress",
        "task.failed": "_failed",
        "task.lost": "_lost",
        "task.profile.resolved": "_profile",
        "task.delegated": "_delegated",
        "task.dependency.updated": "_linked",
        "task.attempt.started": "_attempted",
        "task.attempt.completed": "_attempt_completed",
        "task.attempt.failed": "_attempt_failed",
    }
    carries = ("task", "task_id")

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.tasks: dict[str, Task] = {}
        self.tasks_of: dict[str, dict[str, None]] = {}
        """The tasks that list each attempt."""

    def _task(self, fact: Fact) -> Task:
        return self.tasks.setdefault(fact.ids.get("task_id", ""), Task())

    def _tell(self, fact: Fact, *names: str) -> None:
        said = self._task(fact).said
        for name in names:
            if (value := fact.told(name, "task")) is not None:
                said[name] = self.facts.records.field("task", name, value)

    def _any(self, fact: Fact) -> None:
        if fact.type == "task.profile.resolved":
            return
        task = self._task(fact)
        for name in ENVELOPE:
            if fact.line.get(name) is not None:
                task.said.setdefault(name, fact.line[name])
        if (native := fact.line.get("native_status")) is not None:
            task.said["native_status"] = native
        turning = self.facts.rows.get(("task", fact.ids["task_id"]))
        if turning and turning.index == fact.index:
            reasons = (fact.payload.get("reason"), fact.payload.get("blocker"), fact.line.get("status_reason"))
            reason = next((reason for reason in reasons if reason is not None), None)
            actions = fact.payload.get(ACTIONS[fact.type]) if fact.type in ACTIONS else None
            task.row = present(status_reason=reason, required_action_ids=actions)

    def meet(self, fact: Fact) -> None:
        if "task_id" in fact.ids and (family := fact.side("task").get("task_family")) is not None:
            self._task(fact).said["task_family"] = family

    def _created(self, fact: Fact) -> None:
        self._described(fact)
        task = self._task(fact)
        task.said["created_at"] = fact.time
        task.delivery_required = fact.payload.get("delivery_required")
        if "parent_task_id" in fact.ids:
            self._draw(fact, {"kind": "parent", "target_id": fact.ids["parent_task_id"]})

    def _described(self, fact: Fact) -> None:
        self._tell(fact, *DESCRIBED)
        if fact.type != "task.accepted":
            self._accept(fact)

    def _accept(self, fact: Fact) -> None:
        beside = fact.line.get("task_acceptance")
        told = fact.payload.get("acceptance", beside if beside is not None else fact.side("task").get("acceptance"))
        if told is not None:
            self._task(fact).said["acceptance"] = self.facts.records.field("task", "acceptance", told)

    def _completed(self, fact: Fact) -> None:
        self._accept(fact)
        self._deliver(fact)

    def _deliver(self, fact: Fact) -> None:
        told = fact.told("delivery_state", "task_progress", "task")
        told = told if told is not None else fact.line.get("delivery_state")
        if told is not None:
            self._task(fact).said["delivery_state"] = told

    def _started(self, fact: Fact) -> None:
        self._task(fact).said.setdefault("started_at", fact.time)

    def _progress(self, fact: Fact) -> None:
        self._task(fact).progress.update(copied(self.facts, "task_progress", fact))
        self._deliver(fact)

    def _failed(self, fact: Fact) -> None:
        error = fact.told("last_error", "task")
        self._err(fact, error if error is not None else fact.payload.get("error"))

    def _err(self, fact: Fact, error: Any) -> None:
        if error is not None:
            self._task(fact).said["last_error"] = self.facts.records.field("task", "last_error", error)

    def _lost(self, fact: Fact) -> None:
        worker = as_record(fact.payload.get("worker")) or fact.side("worker")
        self._task(fact).lost_worker = worker.get("worker_id")

    def _profile(self, fact: Fact) -> None:
        if "task_id" in fact.ids:
            self._task(fact).said["task_profile"] = copied(self.facts, "task_profile", fact)

    def _delegated(self, fact: Fact) -> None:
        told = fact.payload.get("relationship")
        edge = as_record(told) or fact.side("task_relationship")
        kind = DRAWN.get(str(fact.payload.get("target_kind")))
        if not edge and kind and isinstance(fact.payload.get("target_id"), str):
            edge = {"kind": kind, "target_id": fact.payload["target_id"]}
        self._draw(fact, edge)

    def _linked(self, fact: Fact) -> None:
        self._draw(fact, as_record(fact.payload.get("relationship")) or fact.side("task_relationship"))

    def _draw(self, fact: Fact, told: dict[str, Any]) -> None:
        kind, target = told.get("kind"), told.get("target_id")
        if not isinstance(kind, str) or not isinstance(target, str):
            return
        edge = self._task(fact).edges.setdefault((kind, target), Edge(fact.index, fact.time))
        for name in ("status", "reason", "created_at"):
            if told.get(name) is not None:
                setattr(edge, name, told[name])
        edge.updated_at = told["updated_at"] if told.get("updated_at") is not None else fact.time
        edge.removed = fact.payload.get("operation") == "unlinked"

    def _attempted(self, fact: Fact) -> None:
        task = self._task(fact)
        key = fact.ids.get("run_id") or fact.ids.get("attempt_id", "")
        attempt = task.attempts.setdefault(key, {})
        for name in ("input_refs", "retry_policy", "attempt_count"):
            attempt[name] = self.facts.records.field("task_attempt", name, fact.told(name, "task_attempt"))
        worker = fact.told("worker", "task_attempt")
        attempt["worker"] = self.facts.records.copy("worker", worker if worker is not None else fact.line.get("worker"))
        attempt |= {name: fact.line.get(name) for name in ("run_id", "attempt_id")} | {"started_at": fact.time}
        task.said["current_run_id"] = key
        self.tasks_of.setdefault(key, {})[fact.ids["task_id"]] = None

    def _attempt(self, fact: Fact) -> dict[str, Any]:
        key = fact.ids.get("run_id") or fact.ids.get("attempt_id", "")
        self.tasks_of.setdefault(key, {})[fact.ids["task_id"]] = None
        return self._task(fact).attempts.setdefault(key, {"run_id": key})

    def _attempt_completed(self, fact: Fact) -> None:
        for name in ("output_refs", "checkpoint_refs", "completion_summary"):
            if (value := fact.told(name, "task_attempt")) is not None:
                self._attempt(fact)[name] = value

    def _attempt_failed(self, fact: Fact) -> None:
        error, category = fact.told("last_error", "task_attempt"), fact.payload.get("failure_category")
        self._err(fact, error)
        if error is None and category is not None:
            error = {"category": category}
        if error is not None:
            self._attempt(fact)["last_error"] = self.facts.records.field("task_attempt", "last_error", error)

    def attempts(self, key: str) -> list[dict[str, Any]]:
        """The attempts of a task, in order."""
        told = self.tasks[key].attempts
        known = [run for run in told if self.facts.state("attempt", run)]
        order = self.facts.mentions.order("run_id", known, SESSION)
        return [self._attempt_record(run, told[run], place) for place, run in enumerate(order, 1)]

    def _attempt_record(self, run: str, told: dict[str, Any], place: int) -> dict[str, Any]:
        end, said = self.facts.end("attempt", run), present(**told)
        said.setdefault("attempt_count", place)
        return present(status=self.facts.status("attempt", run), ended_at=end.time if end else None, **said)

    def record(self, key: str) -> dict[str, Any]:
        """The entry of a task."""
        return self.facts.entry("task_id", key, self._record)

    def _record(self, key: str) -> dict[str, Any]:
        return present(**self.body(key), updated_at=self.tasks[key].updated_at)

    def body(self, key: str) -> dict[str, Any]:
        """The entry of a task without the time of its last change."""
        task, end = self.tasks[key], self.facts.end("task", key)
        return present(
            task_id=key,
            status=self.facts.status("task", key),
            progress=dict(task.progress) or None,
            attempts=self.attempts(key),
            relationships=[_relationship(*name, edge) for name, edge in task.edges.items()],
            artifacts=self.facts.of(Artifacts).of_task(key),
            evidence_refs=self.facts.of(Evidence).of_task(key),
            ended_at=end.time if end else None,
            **task.row,
            **task.said,
        )

    def note_change(self, key: str, time: Any) -> None:
        """Notes the time of an event that changed the record of a task, doubt left aside."""
        self.tasks[key].updated_at = time
        self.facts.forget("task_id", key)

    def known(self, scope: Scope) -> list[str]:
        return self.facts.known("task", "task_id", scope)

    def lost_workers(self, scope: Scope) -> list[str]:
        """Workers of lost attempts, then workers that tell of lost tasks."""
        lost = dict.fromkeys(self.facts.standing("attempt", LOST))
        tried = self._ordered(dict.fromkeys(task for run in lost for task in self.tasks_of.get(run, ())), scope)
        runs = (run for key in tried for run in self.attempts(key) if run["run_id"] in lost)
        of_attempts = [as_record(run.get("worker")).get("worker_id") for run in runs]
        of_tasks = [self.tasks[key].lost_worker for key in self._ordered(self.facts.standing("task", LOST), scope)]
        return list(dict.fromkeys(worker for worker in (*of_attempts, *of_tasks) if isinstance(worker, str)))

    def _ordered(self, keys: Iterable[str], scope: Scope) -> list[str]:
        shown = (key for key in keys if scope in self.facts.scopes("task", "task_id", key))
        return self.facts.mentions.order("task_id", shown, scope)


def _relationship(kind: str, target: str, edge: Edge) -> dict[str, Any]:
    created = edge.created_at if edge.created_at is not None else edge.drawn_at
    return present(
        kind=kind,
        target_id=target,
        status=edge.shown,
        reason=edge.reason,
        created_at=created,
        updated_at=edge.updated_at,
    )
