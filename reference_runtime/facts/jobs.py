"""Jobs and their items."""

from __future__ import annotations

from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, add, first, ids, keep, told
from reference_runtime.facts.unit import Unit


def count(unit: Unit, moves: list[Move]) -> None:
    """How many items of a job stand in each state, kept up with every move of an item."""
    for move in moves:
        if move.machine.name == "job_item" and move.changed and (owner := move.record.scope.get("job_id")):
            counts = unit.edit("job", owner).data.setdefault("counts", {})
            counts[move.source] = counts.get(move.source, 0) - 1
            counts[move.target] = counts.get(move.target, 0) + 1


def job(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said = unit.edit("job", event["job_id"]), told(event, "job")
    first(record, event, "task_id")
    keep(record, said, "progress")
    if event["type"] == "job.created":
        keep(record, said, "instruction_ref", "input_refs", "output_schema_ref", "max_runtime_ms", "item_cursor")
        record.data["created_at"] = event["timestamp"]
        for entry in said.get("items", ()):
            item_record = unit.edit("job_item", entry["job_item_id"])
            item_record.session, item_record.thread = record.session, record.thread
            item_record.tell("job_id", event["job_id"])
            keep(item_record, entry, "input_ref", "assignment", "attempt_count")
    elif event["type"] == "job.started":
        add(record, "assigned_thread_ids", *ids(said.get("assigned_thread_ids")))


def item(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said = unit.edit("job_item", event["job_item_id"]), told(event, "job_item")
    owner = unit.edit("job", event["job_id"])
    first(owner, event, "task_id")
    if "job_id" not in record.scope:
        record.tell("job_id", event["job_id"])
    if event["type"] == "job.item.started":
        record.data["starts"] = record.data.get("starts", 0) + 1
    keep(record, said, "attempt_count", "assignment", "last_error", "retryable")
    keep(record, {**event, **said}, "output_ref")
    assigned = said.get("assignment")
    if isinstance(assigned, dict):
        add(owner, "assigned_by_items", assigned.get("thread_id"))
