"""What may run and inside which boundary: catalogues, permissions, sandboxes, hooks, policies."""

from __future__ import annotations

from reference_runtime.contract import copied
from reference_runtime.facts.scope import scopes
from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, add, keep, told
from reference_runtime.facts.unit import Unit

_TARGETS = {"tool_call_id": "tool", "process_id": "process", "action_id": "action", "peer_task_id": "peer_task"}
_RESOLVED = {"allowed": "allow", "denied": "deny", "timed_out": "deny", "cancelled": "deny"}


def catalog(unit: Unit, event: Event, moves: list[Move]) -> None:
    """The latest catalogue of each scope, for any caller and for the caller it names."""
    said = told(event)
    for scope in scopes(unit):
        for caller in {"", said.get("caller") if isinstance(said.get("caller"), str) else ""}:
            record = unit.edit("catalog", f"{scope}|{caller}")
            record.session = event.get("session_id")
            record.data = {name: event[name] for name in ("thread_id", "turn_id") if name in event}
            keep(record, said, "caller", "policy", "context", "mode", "tools", "inventory_ref")
    _mode(unit, event, said)


def _mode(unit: Unit, event: Event, said: dict) -> None:
    record = unit.edit("governance", event["session_id"])
    record.session = event["session_id"]
    keep(record, said, "mode")


def permission(unit: Unit, event: Event, moves: list[Move]) -> None:
    said = told(event, "permission_decision")
    _mode(unit, event, said)
    call = event.get("tool_call_id")
    if isinstance(call, str) and isinstance(said.get("approval_action_id"), str):
        unit.edit("tool_call", call).data["approved_by"] = said["approval_action_id"]
    for move in moves:
        keep(move.record, said, "approval_action_id")
    if event["type"] == "permission.requested":
        return
    entry = copied("permission_decision", said)
    word = entry["decision"]
    if event["type"] == "permission.resolved":
        entry["decision"] = _RESOLVED.get(word, word)
        if word in {"timed_out", "cancelled"}:
            entry.setdefault("decision_reason", word)
    target = next((name for name in _TARGETS if isinstance(event.get(name), str)), None)
    if target:
        entry.setdefault("target_kind", _TARGETS[target])
        entry["target_id"] = event[target]
    record = unit.edit("decision", event["event_id"])
    record.session, record.thread, record.data = event.get("session_id"), unit.thread, entry
    if isinstance(call, str):
        unit.edit("tool_call", call).data["policy_decision"] = entry["decision"]


def sandbox(unit: Unit, event: Event, moves: list[Move]) -> None:
    said = told(event, "sandbox_profile")
    if event["type"] == "sandbox.violation":
        record = unit.edit("violation", event["event_id"])
        record.session, record.thread = event.get("session_id"), unit.thread
        keep(record, event, "tool_call_id", "process_id")
        keep(record, said, "violation_ref", "boundary", "target")
        return
    profile = copied("sandbox_profile", said)
    unit.edit("governance", event["session_id"]).session = event["session_id"]
    unit.edit("governance", event["session_id"]).data["sandbox_profile"] = profile
    if isinstance(event.get("tool_call_id"), str):
        unit.edit("tool_call", event["tool_call_id"]).data["sandbox_profile"] = profile
    for scope in scopes(unit):
        record = unit.edit("environment", scope)
        record.session, record.data["sandbox"] = event.get("session_id"), profile
        keep(record, profile, "cwd")


def hook(unit: Unit, event: Event, moves: list[Move]) -> None:
    said = told(event, "hook_run")
    for move in moves:
        record = unit.edit("hook", move.record.id)
        record.thread = record.thread or unit.thread
        if event["type"] == "hook.started":
            record.data = {}
            keep(record, said, "hook_point", "handler_ref")
        else:
            names = ("decision", "duration_ms", "failure_behavior", "updated_input_ref", "updated_tool_output_ref")
            keep(record, said, *names, "additional_context_refs", "audit_refs", "block_reason")
        if isinstance(event.get("tool_call_id"), str):
            add(unit.edit("tool_call", event["tool_call_id"]), "hook_run_ids", record.id)


def policy(unit: Unit, event: Event, moves: list[Move]) -> None:
    said = told(event)
    _mode(unit, event, said)
    keep(unit.edit("governance", event["session_id"]), said, "policy_ref")
