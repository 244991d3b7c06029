"""Sessions, threads and incidents."""

from __future__ import annotations

from reference_runtime.facts.scope import scopes
from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, keep, told
from reference_runtime.facts.unit import Unit

_TRACED = frozenset(("telemetry", "trace_id", "span_id"))


def envelope(unit: Unit, event: Event) -> None:
    """What any event tells about its session and thread, whatever its type."""
    session = event.get("session_id")
    if isinstance(session, str):
        known, told_by = unit.look("session", session), event.get("runtime_id")
        if known is None or known.session != session or told_by not in (None, known.data.get("runtime_id")):
            record = unit.edit("session", session)
            record.session = session
            keep(record, event, "runtime_id")
        if not _TRACED.isdisjoint(event):
            _telemetry(unit, event, session)
    thread = unit.thread
    if thread and unit.look("thread", thread):
        unit.stir(thread, event["timestamp"])
    if isinstance(event.get("execution_environment"), dict):
        for scope in scopes(unit):
            _environment(unit, scope, event)


def _telemetry(unit: Unit, event: Event, session: str) -> None:
    beside = event.get("telemetry") or {}
    said = {name: event[name] for name in ("trace_id", "span_id") if isinstance(event.get(name), str)}
    if beside or said:
        record = unit.edit("session", session)
        record.data["telemetry"] = {**record.data.get("telemetry", {}), **beside, **said}
    if "trace_id" in said:
        unit.edit("trace", f"{session}|{said['trace_id']}").session = session


def _environment(unit: Unit, scope: str, event: Event) -> None:
    record = unit.edit("environment", scope)
    record.session = event.get("session_id")
    told_by = record.data.setdefault("environment", {})
    told_by.update(event["execution_environment"])
    if "cwd" in event["execution_environment"]:
        record.data["cwd"] = event["execution_environment"]["cwd"]


def session(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said = unit.edit("session", event["session_id"]), told(event)
    keep(record, said, "title", "workspace_id", "account_ref")
    if event["type"] == "session.created":
        record.data["created_at"] = said.get("created_at", event["timestamp"])
    else:
        keep(record, said, "active_thread_id", "pinned_thread_ids")


def thread(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said = unit.edit("thread", event["thread_id"]), told(event)
    keep(record, said, "title")
    status = said.get("status", event.get("status"))
    if event["type"] == "thread.updated" and status:
        record.data["status_reason"] = said.get("reason", event.get("status_reason"))


def incident(unit: Unit, event: Event, moves: list[Move]) -> None:
    """A warning with an id is an incident; one without is a remark."""
    said, kind = told(event), event["type"].partition(".")[2]
    identity = said.get("incident_id")
    if not isinstance(identity, str):
        if kind == "warning":
            remark = unit.edit("warning", event["event_id"])
            remark.session, remark.thread = event.get("session_id"), unit.thread
            remark.data["text"] = said.get("message", said.get("code"))
        return
    record = unit.edit("incident", identity)
    record.session = record.session or event.get("session_id")
    record.thread = record.thread or unit.thread
    record.data.setdefault("incident_type", f"runtime_{kind}")
    record.data.setdefault("severity", kind)
    record.data.setdefault("detected_at", event["timestamp"])
    keep(record, said, "incident_type", "severity", title="code", details="message")
    if said.get("cleared") is True:
        record.data["cleared"] = True
