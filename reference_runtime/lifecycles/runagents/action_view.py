"""The action view: one blocked call, the decision about it, and the events of both."""

from __future__ import annotations

from typing import Any

from reference_runtime.lifecycles.runagents.history import History, Line, first, kind_of, latest, told, unknown

_TOOL = {"TOOL_REQUEST", "TOOL_CALLED", "TOOL_RESPONSE"}
_DECIDED = {"APPROVED": "approved", "EXECUTED": "approved", "REJECTED": "rejected"}


def action_view(action_id: str, run_id: str, state: str, history: History) -> dict[str, Any]:
    """What a consumer is shown about one blocked action: the call, the decision, and the events of both."""
    events = [event for event in history.events if told(event).get("action_id") == action_id]
    records = [record for record in history.actions if record["action_id"] == action_id]
    asked = next((event for event in events if kind_of(event) == "APPROVAL_REQUIRED"), {})
    request = next((one for one in reversed(history.requests) if one.get("action_id") == action_id), {})
    record = records[-1] if records else {}
    linked = first(*(told(event).get("request_id") for event in events), record.get("request_id"), request.get("id"))
    tool = first(told(asked).get("tool_id"), told(asked).get("tool"), record.get("tool_id"))
    return {
        "action_id": action_id,
        "run_id": run_id,
        "request_id": linked or unknown("No line links a request."),
        "tool_id": tool or unknown("No line names the tool."),
        "capability": first(told(asked).get("capability"), record.get("capability")) or unknown("No line names it."),
        "payload_hash": first(asked.get("payload_hash"), record.get("payload_hash")) or unknown("No hash was given."),
        "payload_match": _match(events, records),
        "status": state.upper(),
        **_decision(events, records, request),
        "created_at": first(record.get("created_at"), asked.get("timestamp")) or unknown("No line tells of the block."),
        "updated_at": latest(record.get("updated_at"), *(event["timestamp"] for event in events)),
        "required_event_id": asked.get("event_id") or unknown("No event tells of the block."),
        "retry_event_id": _retry(action_id, history),
    }


def _match(events: list[Line], records: list[Line]) -> Any:
    given = [line["payload_hash"] for line in (*events, *records) if line.get("payload_hash") is not None]
    if len(given) < 2:
        return unknown("Fewer than two hashes were given.")
    return len({value.removeprefix("sha256:") for value in given}) == 1


def _decision(events: list[Line], records: list[Line], request: Line) -> dict[str, Any]:
    event = next((event for event in events if kind_of(event) in {"APPROVED", "REJECTED"}), None)
    record = next((record for record in records if record["status"] in _DECIDED), None)
    if event is None and record is None:
        return dict.fromkeys(("decision", "approver_id", "scope", "reason", "decided_at", "decided_event_id"))
    said = told(event) if event else {}
    word = _DECIDED[kind_of(event) if event else record["status"]]
    recorded = (record.get("approver_id") for record in reversed(records))
    named = first(said.get("approver_id"), (event or {}).get("actor"), *recorded)
    scope = first(said.get("scope"), request.get("scope")) or unknown("No line tells the scope.")
    return {
        "decision": word,
        "approver_id": named or unknown("No line names who decided."),
        "scope": scope if word == "approved" else None,
        "reason": said.get("reason") or unknown("The decision gives no reason."),
        "decided_at": event["timestamp"] if event else record["updated_at"],
        "decided_event_id": event["event_id"] if event else unknown("Only a record tells of the decision."),
    }


def _retry(action_id: str, history: History) -> str | None:
    """The first tool event that names the action after an event or a record granted it."""
    granted = False
    for line in history.everything:
        record = line["snapshot"] if line.get("model") == "blocked_action" else {}
        if record.get("action_id") == action_id:
            granted = granted or _DECIDED.get(record["status"]) == "approved"
        elif "record" not in line and told(line).get("action_id") == action_id:
            granted = granted or kind_of(line) == "APPROVED"
            if granted and kind_of(line) in _TOOL:
                return line["event_id"]
    return None
