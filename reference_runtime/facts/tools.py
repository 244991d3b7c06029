"""Tool calls, processes and actions."""

from __future__ import annotations

from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, add, first, ids, keep, told
from reference_runtime.facts.unit import Unit

_ANSWERS = {"allow": "approved", "deny": "denied"}


def call(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said, kind = unit.edit("tool_call", event["tool_call_id"]), told(event), event["type"]
    first(record, event, "turn_id", "step_id")
    if kind == "tool.started":
        keep(record, said, "tool_name", "policy", "payload_hash")
        record.data["started_at"] = event["timestamp"]
        keep(record, said, approved_by="approval_action_id")
    if kind in {"tool.started", "tool.args"}:
        keep(record, said, "args_ref")
    elif kind == "tool.result":
        keep(record, {**event, **said}, "output_ref", "preview")
    elif kind == "tool.failed":
        keep(record, said, "error")


def process(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said, kind = unit.edit("process", event["process_id"]), told(event), event["type"]
    first(record, event, "turn_id", "tool_call_id")
    if kind == "process.started":
        keep(record, said, "command", "cwd", "tty", "retention", "limits")
        record.data["started_at"] = event["timestamp"]
    elif kind == "process.output":
        add(record, "output_refs", {**event, **said}.get("output_ref"))
    elif kind == "process.completed":
        add(record, "output_refs", *ids(said.get("output_refs")))
    if any(move.ended and move.record is record for move in moves):
        keep(record, said, "exit_code", "duration_ms")


def action(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said = unit.edit("action", event["action_id"]), told(event)
    if event["type"] == "action.required":
        keep(record, said, "action_type", "title", "prompt", "decisions", "expires_at", "payload_hash", "on_timeout")
        keep(record, event, "turn_id", "task_id", "tool_call_id", "process_id")
        record.data |= {"blocking": said.get("blocking", True), "requested_at": event["timestamp"]}
        if isinstance(event.get("tool_call_id"), str):
            unit.edit("tool_call", event["tool_call_id"]).data["asked_by"] = event["action_id"]
        return
    record.data["decision"] = _ANSWERS.get(said["decision"], said["decision"])
    keep(record, said, "decided_by")
    record.data.setdefault("resolved_at", event["timestamp"])
