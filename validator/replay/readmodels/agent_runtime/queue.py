"""The queue of a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from validator.records import dataclass, field
from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.records import as_list, as_record, distinct, present
from validator.replay.readmodels.agent_runtime.scope import Scope
from validator.replay.readmodels.agent_runtime.turns import Turn, Turns

COPIED = ("source", "policy", "message_preview", "image_count", "created_at", "turn_id")


@dataclass(slots=True)
class Queue:
    """What waits in one thread, in order, and what was told of it."""

    waiting: list[str] = field(default_factory=list)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    named_at: dict[str, Any] = field(default_factory=dict)
    queue_id: Any = None
    policy: Any = None
    changed: int = -1


def _put(queue: Queue, named: list[str], position: int) -> None:
    queue.waiting = [key for key in queue.waiting if key not in named]
    queue.waiting[position:position] = named


def _added(queue: Queue, named: list[str], position: int | None) -> None:
    _put(queue, named, len(queue.waiting) if position is None else position)


def _promoted(queue: Queue, named: list[str], position: int | None) -> None:
    _put(queue, named, position or 0)


def _reordered(queue: Queue, named: list[str], position: int | None) -> None:
    queue.waiting = distinct([*named, *queue.waiting])


def _left(queue: Queue, named: list[str], position: int | None) -> None:
    queue.waiting = [key for key in queue.waiting if key not in named]


def _cleared(queue: Queue, named: list[str], position: int | None) -> None:
    queue.waiting = [key for key in queue.waiting if named and key not in named]


OPERATIONS: dict[str, Callable[[Queue, list[str], int | None], None]] = {
    "added": _added,
    "promoted": _promoted,
    "reordered": _reordered,
    "removed": _left,
    "started": _left,
    "cleared": _cleared,
}


class Queues(Collector):
    """The queues of a session, by thread."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "queue.changed": "_changed",
        "turn.submitted": "_submitted",
        "history.reconstructed": "_recovered",
        "snapshot.repaired": "_recovered",
    }

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.queues: dict[str | None, Queue] = {}
        self._recoveries: dict[str | None, int] = {}
        self._policies = facts.latest()
        self._turns: dict[str, tuple[int, str]] = {}

    def _changed(self, fact: Fact) -> None:
        queue = self.queues.setdefault(self.facts.belonging.thread(fact.origin), Queue())
        queue.changed = fact.index
        queue.queue_id = fact.line.get("queue_id") or queue.queue_id
        queue.policy = fact.payload.get("policy") or queue.policy
        named = _named(fact.payload)
        for key in named:
            queue.named_at.setdefault(key, fact.time)
        if len(named) == 1 and "turn_id" in fact.ids:
            self._turns[named[0]] = (fact.index, fact.ids["turn_id"])
        whole = fact.payload.get("queue")
        if isinstance(whole, list):
            items = [as_record(item) for item in whole]
            self._taken(queue, fact, [item for item in items if isinstance(item.get("queued_turn_id"), str)])
        elif operation := OPERATIONS.get(str(fact.payload.get("operation"))):
            position = fact.payload.get("position")
            operation(queue, named, position if isinstance(position, int) else None)

    def _taken(self, queue: Queue, fact: Fact, whole: list[dict[str, Any]]) -> None:
        """A whole queue is taken at its word (RM-34)."""
        queue.waiting = distinct(item["queued_turn_id"] for item in whole)
        for item in whole:
            key = item["queued_turn_id"]
            queue.named_at.setdefault(key, fact.time)
            queue.items.setdefault(key, {}).update(
                {name: item[name] for name in COPIED if name != "turn_id" and item.get(name) is not None}
            )
            if isinstance(item.get("turn_id"), str):
                self._turns[key] = (fact.index, item["turn_id"])

    def _submitted(self, fact: Fact) -> None:
        queued = fact.payload.get("queued_turn_id")
        if isinstance(queued, str) and "turn_id" in fact.ids:
            self._turns[queued] = (fact.index, fact.ids["turn_id"])
        policy = fact.payload.get("queue_policy")
        if fact.payload.get("status") == "queued" and policy is not None:
            self._policies.tell("policy", fact.index, fact.origin, policy)

    def _recovered(self, fact: Fact) -> None:
        self._recoveries[self.facts.belonging.thread(fact.origin)] = fact.index

    def items(self, thread: str | None) -> list[dict[str, Any]]:
        """The turns that wait in a thread, in order."""
        queue = self.queues.get(thread, Queue())
        return [self._item(queue, key, place) for place, key in enumerate(queue.waiting)]

    def _item(self, queue: Queue, key: str, place: int) -> dict[str, Any]:
        told = queue.items.get(key, {})
        turn_id = self._turns.get(key, (0, key))[1]
        turn = self.facts.of(Turns).turns.get(turn_id, Turn())
        base = present(source=turn.said.get("source"), policy=turn.queue_policy, created_at=queue.named_at.get(key))
        return {**base, **told, "queued_turn_id": key, "turn_id": turn_id, "position": place, "status": "waiting"}

    def build(self, scope: Scope) -> dict[str, Any] | None:
        """The `queue_snapshot`."""
        queue = self.queues.get(scope.thread)
        if queue is None or scope.thread is None:
            return None
        items = self.items(scope.thread)
        policy = queue.policy if queue.policy is not None else self._policies.value("policy", scope)
        return present(
            queue_id=queue.queue_id,
            queued_turn_ids=list(queue.waiting),
            items=items,
            policy=policy,
            resume_state=self._resume_state(queue, scope.thread),
        )

    def _resume_state(self, queue: Queue, thread: str) -> str:
        recovered = max(self._recoveries.get(thread, -1), self._recoveries.get(None, -1))
        if recovered > queue.changed:
            return "recovered"
        if not queue.waiting:
            return "drained"
        return "paused" if self.facts.state("thread", thread) == "blocked" else "running"


def _named(payload: dict[str, Any]) -> list[str]:
    one = payload.get("queued_turn_id")
    listed = as_list(payload.get("queued_turn_ids"))
    return distinct(key for key in ([one] if one is not None else listed) if isinstance(key, str))
