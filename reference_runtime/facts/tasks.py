"""Tasks, their edges and their attempts."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.evidence import serve
from reference_runtime.facts.record import Record
from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, first, ids, keep, told
from reference_runtime.facts.unit import Unit

_PARENTS = ("parent_task_id", "root_task_id", "session_id", "thread_id", "turn_id")
_META = ("title", "objective", "task_kind", "visibility", "scope", "constraints")
_PEOPLE = ("requested_by", "owner", "assignee", "priority")
_WHY = ("status_reason", "required_action_ids")
_DEMANDS = ("delivery_required", "artifacts_required", "evidence_required", "parallel_attempts")


def task(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said, kind = _named(unit, event), told(event, "task"), event["type"]
    if event.get("task"):
        keep(record, event["task"], "task_family")
    if kind in {"task.created", "task.accepted", "task.updated"}:
        keep(record, said, *_META, *_PEOPLE, *_DEMANDS)
    if kind in {"task.created", "task.updated", "task.completed"}:
        keep(record, {"acceptance": event.get("task_acceptance"), **said}, "acceptance")
    if kind in {"task.progress", "task.completed"}:
        keep(record, {"delivery_state": event.get("delivery_state"), **said}, "delivery_state")
    if kind == "task.created":
        record.data["created_at"] = event["timestamp"]
        _parent_edge(unit, event)
    elif kind == "task.started":
        record.data.setdefault("started_at", event["timestamp"])
    elif kind == "task.progress":
        if progress := copied("task_progress", told(event, "task_progress")):
            record.data["progress"] = {**record.data.get("progress", {}), **progress}
    elif kind == "task.failed":
        keep(record, said, last_error="error")
        keep(record, said, "last_error")
    elif kind == "task.lost":
        record.data["lost_worker"] = (told(event).get("worker") or event.get("worker") or {}).get("worker_id")
    elif kind == "task.completed":
        for artifact in filter(lambda name: unit.get("artifact", name), ids(said.get("artifact_ids"))):
            serve(unit, unit.edit("artifact", artifact), event["task_id"])
    _reason(event, moves)


def _named(unit: Unit, event: Event) -> Record:
    """The task of a `task.*` event; whichever of them first tells a parent settles it."""
    record = unit.edit("task", event["task_id"])
    first(record, event, *_PARENTS)
    if "native_status" in event:
        keep(record, event, "native_status")
    return record


def _reason(event: Event, moves: list[Move]) -> None:
    """Why a task stands where it stands: told by the event that moved it there, and by no other."""
    for move in moves:
        if move.machine.name != "task" or move.row.target == "same":
            continue
        said, data = told(event), move.record.data
        reason = said.get("reason", said.get("blocker", event.get("status_reason")))
        needed = {"task.waiting": "action_ids", "task.blocked": "required_action_ids"}.get(event["type"], "")
        for name in _WHY:
            data.pop(name, None)
        keep(move.record, {"status_reason": reason, "required_action_ids": said.get(needed)}, *_WHY)


def _parent_edge(unit: Unit, event: Event) -> None:
    parent = event.get("parent_task_id")
    if isinstance(parent, str):
        _draw(unit, event, {"kind": "parent", "target_id": parent})
        child = unit.edit("task", event["task_id"])
        child.tell("parent_task_id", parent)


def edge(unit: Unit, event: Event, moves: list[Move]) -> None:
    """An edge, told as it is now; a delegation without one draws the edge that its target implies."""
    _named(unit, event)
    said = told(event)
    relationship = said.get("relationship", event.get("task_relationship"))
    if event["type"] == "task.delegated" and not isinstance(relationship, dict):
        implied = {"task": "child", "subagent": "spawned_subagent"}.get(said["target_kind"])
        relationship = {"kind": implied, "target_id": said["target_id"]} if implied else None
    if isinstance(relationship, dict):
        _draw(unit, event, relationship, removed=said.get("operation") == "unlinked")


def _draw(unit: Unit, event: Event, relationship: dict[str, Any], removed: bool = False) -> None:
    kind, target = relationship["kind"], relationship["target_id"]
    record = unit.edit("edge", f"{event['task_id']}|{kind}|{target}")
    record.session, record.thread = event.get("session_id"), event.get("thread_id")
    record.tell("task_id", event["task_id"])
    record.data.setdefault("kind", kind)
    record.data.setdefault("target_id", target)
    record.data.setdefault("status", "active")
    record.data.setdefault("created_at", event["timestamp"])
    keep(record, relationship, "status", "reason", "created_at")
    record.data["updated_at"] = relationship.get("updated_at", event["timestamp"])
    if removed:
        record.data["status"] = "removed"


def attempt(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said, kind = unit.edit("attempt", event["run_id"]), told(event, "task_attempt"), event["type"]
    owner = _named(unit, event)
    if "task_id" not in record.scope:
        record.tell("task_id", event["task_id"])
    keep(record, event, "attempt_id")
    if kind == "task.attempt.started":
        owner.data["attempts"] = owner.data.get("attempts", 0) + 1
        owner.data["current_run_id"] = event["run_id"]
        keep(record, {"worker": event.get("worker"), **said}, "worker", "input_refs", "retry_policy")
        record.data["attempt_count"] = said.get("attempt_count", owner.data["attempts"])
        record.data["started_at"] = event["timestamp"]
    elif kind == "task.attempt.completed":
        keep(record, said, "output_refs", "checkpoint_refs", "completion_summary")
    else:
        if "last_error" not in said and isinstance(said.get("failure_category"), str):
            record.data["last_error"] = {"category": said["failure_category"]}
        keep(record, said, "last_error", "retryable")
        keep(owner, said, "last_error")
    _reason(event, moves)
