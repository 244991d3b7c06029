"""Which session, thread and turn an event speaks about, and the order in which subjects were first mentioned (19.4)."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts.unit import Unit

KINDS = {
    "session_id": "session",
    "thread_id": "thread",
    "turn_id": "turn",
    "task_id": "task",
    "run_id": "attempt",
    "step_id": "step",
    "tool_call_id": "tool_call",
    "action_id": "action",
    "subagent_id": "subagent",
    "artifact_id": "artifact",
    "evidence_id": "evidence",
    "model_request_id": "model_request",
    "process_id": "process",
    "channel_id": "channel",
    "job_id": "job",
    "job_item_id": "job_item",
    "hook_run_id": "hook",
    "peer_task_id": "peer_task",
}
_LEADS = ("turn_id", "task_id", "tool_call_id", "process_id", "action_id")
"""Ids through which an event without a thread finds one; the first whose thread is known decides."""


def thread_of(unit: Unit, event: dict[str, Any]) -> str | None:
    """The thread in whose scope an event is, or None."""
    carried = unit.carried(event)
    if "thread_id" in carried:
        return carried["thread_id"]
    for name in _LEADS:
        record = unit.get(KINDS[name], carried.get(name))
        if record and record.thread:
            return record.thread
    return None


def mention(unit: Unit, event: dict[str, Any]) -> None:
    """Gives every subject that an event names its place in the order, its session and its thread."""
    thread = thread_of(unit, event)
    carried = unit.carried(event)
    for name, identity in carried.items():
        kind = KINDS.get(name)
        if kind is None:
            continue
        known, belongs = unit.get(kind, identity), thread if kind != "session" else None
        if known and known.session and (known.thread or not belongs):
            continue
        record = unit.edit(kind, identity)
        record.session = record.session or carried.get("session_id")
        record.thread = record.thread or belongs


def scopes(unit: Unit, event: dict[str, Any]) -> list[str]:
    """Names of the scopes that an event feeds: its session, its thread, its turn."""
    carried = unit.carried(event)
    found = [("session", carried.get("session_id")), ("thread", thread_of(unit, event))]
    return [f"{kind}|{identity}" for kind, identity in (*found, ("turn", carried.get("turn_id"))) if identity]
