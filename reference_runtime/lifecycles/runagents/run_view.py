"""The run view: where a run stands, why, and its history."""

from __future__ import annotations

from typing import Any

from reference_runtime.lifecycles.runagents.history import (
    CONTRACT,
    History,
    Line,
    first,
    kind_of,
    latest,
    told,
    unknown,
)

_ENDS = {"COMPLETED": {"COMPLETED"}, "FAILED": {"FAILED", "REJECTED", "INVOKE_FAILED"}}
_ERRORS = {"ERROR", "FAILED", "INVOKE_FAILED"}
_APPROVAL = {"APPROVAL_REQUIRED", "APPROVED", "REJECTED"}
_PAUSED = {"PAUSED_APPROVAL": "approval_required", "PAUSED_CONSENT": "consent_required"}


def run_view(run_id: str, status: str, ended_at: str | None, history: History) -> dict[str, Any]:
    """What a consumer is shown about one run."""
    record = history.runs[-1] if history.runs else None
    created = history.oldest("RUN_CREATED") or {}
    last = history.events[-1] if history.events else None
    return {
        "run_id": run_id,
        "status": status,
        **_origin(record, created),
        "created_at": first((record or created).get("created_at"), created.get("timestamp"))
        or unknown("Neither a run record nor RUN_CREATED was seen."),
        "updated_at": latest((record or {}).get("updated_at"), *(event["timestamp"] for event in history.events)),
        "ended_at": ended_at,
        **_end(status, history),
        "last_error": _last_error(history),
        "blocked_action_id": _blocked(status, record, history),
        "pending_consent": _consent(status, history),
        "action_ids": _actions(history),
        "vocabulary": _vocabulary(history),
        "last_event": {name: last[name] for name in ("event_id", "seq", "type", "timestamp")} if last else None,
        "events": [_entry(event) for event in history.events],
    }


def _origin(record: Line | None, created: Line) -> dict[str, Any]:
    source = record or told(created)
    who = {name: source.get(name) or unknown("No run record was seen.") for name in ("agent_id", "user_id")}
    only_recorded = ("conversation_id", "initial_message")
    if record is None:
        return who | {name: unknown("No run record was seen.") for name in only_recorded}
    return who | {name: record.get(name) for name in only_recorded}


def _end(status: str, history: History) -> dict[str, Any]:
    if status not in _ENDS:
        reason = unknown("Nobody explained the pause.") if status == "PAUSED" else _PAUSED.get(status)
        return {"ended_by": None, "reason": reason}
    evidence = [event for event in history.events if kind_of(event) in _ENDS[status]]
    if status == "FAILED" and history.events and kind_of(history.events[-1]) == "ERROR":
        evidence.append(history.events[-1])
    by = "event" if evidence else "record"
    return {"ended_by": by, "reason": _why(history, evidence) if status == "FAILED" else None}


def _why(history: History, evidence: list[Line]) -> Any:
    given = (first(told(event).get("reason"), told(event).get("error")) for event in evidence)
    rejected = history.newest("REJECTED") or any(action["status"] == "REJECTED" for action in history.actions)
    return first(*given, "rejected" if rejected else None) or unknown("No line says why the run failed.")


def _last_error(history: History) -> Any:
    errors = [event for event in history.events if kind_of(event) in _ERRORS]
    if not errors:
        return None
    return first(*(told(event).get("error") for event in reversed(errors))) or unknown("The error was not described.")


def _blocked(status: str, record: Line | None, history: History) -> Any:
    if status != "PAUSED_APPROVAL":
        return None
    asked = history.newest("APPROVAL_REQUIRED")
    named = told(asked).get("action_id") if asked else (record or {}).get("blocked_action_id")
    return named or unknown("No line names the action.")


def _consent(status: str, history: History) -> Any:
    if status != "PAUSED_CONSENT":
        return None
    asked = history.newest("CONSENT_REQUIRED")
    if asked is None:
        return unknown("Only the record tells of the pause.")
    said = told(asked)
    return {
        "event_id": asked["event_id"],
        "tool_id": first(said.get("tool_id"), said.get("tool")) or unknown("The event names no tool."),
        "authorization_url": said.get("authorization_url") or unknown("The event gives no address."),
        "requested_at": asked["timestamp"],
    }


def _actions(history: History) -> list[str]:
    found: dict[str, None] = {}
    for line in history.everything:
        if line.get("record") == "run":
            name = line.get("blocked_action_id")
        elif "record" in line:
            name = line["snapshot"].get("action_id") if line.get("model") == "blocked_action" else None
        else:
            name = told(line).get("action_id") if kind_of(line) in _APPROVAL else None
        if name is not None:
            found[name] = None
    return list(found)


def _vocabulary(history: History) -> str | None:
    sides: set[str] = set()
    for event in history.events:
        for row in CONTRACT.protocol.tables["events"]["rows"]:
            spoken = [side for side in ("operations", "api") if event["type"] in row["values"][side]]
            sides |= {"shared"} if len(spoken) == 2 else set(spoken)
    if sides >= {"operations", "api"}:
        return "mixed"
    return next(iter(sides - {"shared"}), "shared") if sides else None


def _entry(event: Line) -> dict[str, Any]:
    entry = {name: event.get(name) for name in ("event_id", "seq", "type", "timestamp", "actor", "payload_hash")}
    return entry | {"action_id": told(event).get("action_id")}
