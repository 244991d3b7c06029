"""Artifacts, evidence and stored output."""

from __future__ import annotations

from reference_runtime.facts.record import Record
from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, add, keep, told
from reference_runtime.facts.unit import Unit

_ARTIFACT = ("title", "kind", "version_id", "read_ref", "preview_ref", "diff_ref", "validation_issue_count")
_REFS = ("pack_ref", "trace_ref", "replay_ref", "review_ref")
_STATUS = {"spilled": "stored", "truncated": "truncated", "redacted": "redacted", "expired": "expired"}


def artifact(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said = unit.edit("artifact", event["artifact_id"]), told(event)
    keep(record, said, *_ARTIFACT)
    record.data["updated_at"] = event["timestamp"]
    record.data["told"] = True
    record.data["deleted"] = said.get("change") == "deleted"
    add(record, "threads", unit.thread)
    serve(unit, record, event.get("task_id"))


def serve(unit: Unit, record: Record, task: object) -> None:
    """Notes that an artifact or a reference belongs to what a task did, where the task can find it."""
    if isinstance(task, str):
        add(record, "tasks", task)
        link = unit.edit(f"task_{record.kind}", f"{task}|{record.id}")
        link.tell("task_id", task)
        link.data["id"] = record.id


def evidence(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said = unit.edit("evidence", event["evidence_id"]), told(event)
    record.data["told"] = True
    keep(record, said, *_REFS, "verification_outcomes", "known_gaps")
    if isinstance(said.get("audit_notes"), list):
        note = unit.edit("audit", event["event_id"])
        note.session, note.data["notes"] = event.get("session_id"), said["audit_notes"]
    for name in _REFS:
        if isinstance(said.get(name), str):
            reference = unit.edit("reference", f"{event.get('session_id')}|{said[name]}")
            reference.session, reference.data["ref"] = event.get("session_id"), said[name]
            add(reference, "threads", unit.thread)
            serve(unit, reference, event.get("task_id"))


def output(unit: Unit, event: Event, moves: list[Move]) -> None:
    said = told(event, "output")
    reference = event.get("output_ref") or said.get("output_ref") or (event.get("refs") or {}).get("output_ref")
    if not isinstance(reference, str):
        return
    record = unit.edit("output", reference)
    record.session = event.get("session_id")
    names = ("owner", "owner_id", "media_type", "encoding", "size_bytes", "preview", "sha256", "expires_at")
    keep(record, said, *names, "truncation", "redaction")
    if record.data.get("status") != "expired":
        record.data["status"] = _STATUS[event["type"].partition(".")[2]]
