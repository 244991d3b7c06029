"""The queue of a thread: who waits, in which order, and since when (19.5)."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts import turns
from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, ids, keep, told
from reference_runtime.facts.unit import Unit


def submitted(unit: Unit, event: Event, moves: list[Move]) -> None:
    """Runs for every turn event: a queued submission says where its place in the queue comes from."""
    turns.outcome(unit, event, moves)
    said = told(event)
    if event["type"] != "turn.submitted" or said.get("status") != "queued":
        return
    record = unit.edit("place", said.get("queued_turn_id", event["turn_id"]))
    record.session, record.thread = event.get("session_id"), event.get("thread_id")
    record.data["turn_id"] = event["turn_id"]
    keep(record, said, submitted_source="source", submitted_policy="queue_policy")
    if event.get("thread_id"):
        keep(unit.edit("line", event["thread_id"]), said, submitted_policy="queue_policy")


def changed(unit: Unit, event: Event, moves: list[Move]) -> None:
    turns.outcome(unit, event, moves)
    thread, said = event.get("thread_id"), told(event)
    if not isinstance(thread, str):
        return
    line = unit.edit("line", thread)
    line.session, line.thread = event.get("session_id"), thread
    line.data.pop("recovered", None)
    keep(line, event, "queue_id")
    keep(line, said, "policy")
    named = [said["queued_turn_id"]] if "queued_turn_id" in said else ids(said.get("queued_turn_ids"))
    whole = said.get("queue")
    if isinstance(whole, list):
        line.data["order"] = [entry["queued_turn_id"] for entry in whole]
    else:
        line.data["order"] = _reorder(line.data.get("order", []), named, said)
    _tell_places(unit, event, named, whole if isinstance(whole, list) else [])


def _reorder(order: list[str], named: list[str], said: dict[str, Any]) -> list[str]:
    operation, position = said.get("operation"), said.get("position")
    rest = [entry for entry in order if entry not in named]
    if operation in {"added", "promoted"}:
        default = len(rest) if operation == "added" else 0
        at = position if isinstance(position, int) else default
        return [*rest[:at], *named, *rest[at:]]
    if operation == "reordered":
        return [*(entry for entry in named if entry in order), *rest]
    if operation in {"removed", "started", "cleared"}:
        return [] if operation == "cleared" and not named else rest
    return order


def _tell_places(unit: Unit, event: Event, named: list[str], whole: list[dict[str, Any]]) -> None:
    entries = {identity: {} for identity in named} | {entry["queued_turn_id"]: entry for entry in whole}
    for identity, entry in entries.items():
        record = unit.edit("place", identity)
        record.session, record.thread = event.get("session_id"), event.get("thread_id")
        record.data.setdefault("created_at", event["timestamp"])
        keep(record, entry, "turn_id", "source", "policy", "message_preview", "image_count", "created_at")
        if len(named) == 1 and identity in named and isinstance(event.get("turn_id"), str):
            record.data["turn_id"] = event["turn_id"]


def recovered(unit: Unit, event: Event, moves: list[Move]) -> None:
    """A reconstruction or repair that names the thread, or no thread, leaves its queue recovered."""
    if event["type"] not in {"history.reconstructed", "snapshot.repaired"}:
        return
    named = event.get("thread_id")
    threads = [named] if named else [record.id for record in unit.find("thread", session_id=event["session_id"])]
    for thread in threads:
        if unit.get("line", thread):
            unit.edit("line", thread).data["recovered"] = True
