"""`queue_snapshot` (19.9): the turns that wait in a thread, in order."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections.told import Standing


def place(record: Record) -> Any:
    """What is known of one place in a queue, apart from where it stands."""
    data = record.data
    told = {"queued_turn_id": record.id, "turn_id": data.get("turn_id", record.id), "status": "waiting"}
    source, policy = data.get("source", data.get("submitted_source")), data.get("policy", data.get("submitted_policy"))
    return copied("queue_item", {**data, **told, "source": source, "policy": policy})


VIEWS = {
    "place": place,
    "line": lambda record: record.data,
    # A blocked thread pauses its queue.
    "thread": Standing(lambda state: state == "blocked"),
}


def items(unit: Unit, thread: str | None) -> list[dict[str, Any]]:
    """The queue of a thread."""
    line = unit.get("line", thread)
    order = line.data.get("order", []) if line else []
    found = enumerate(unit.get("place", identity) for identity in order)
    return [copied("queue_item", {**place(record), "position": at}) for at, record in found if record]


def build(unit: Unit, session: str, thread: str | None = None) -> dict[str, Any]:
    line = unit.get("line", thread)
    data = line.data if line else {}
    waiting = items(unit, thread)
    return {
        "queue_id": data.get("queue_id"),
        "queued_turn_ids": [item["queued_turn_id"] for item in waiting],
        "items": waiting,
        "policy": data.get("policy", data.get("submitted_policy")),
        "resume_state": _resume_state(unit, thread, data, waiting),
    }


def _resume_state(unit: Unit, thread: str | None, data: dict[str, Any], waiting: list[Any]) -> str:
    if data.get("recovered"):
        return "recovered"
    if not waiting:
        return "drained"
    return "paused" if unit.state("thread", thread) == "blocked" else "running"
