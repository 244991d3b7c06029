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


def attend(unit: Unit, event: dict[str, Any]) -> None:
    """Makes an event the present one of a unit: which identities it carries, and in the scope of which thread it is."""
    unit.before, unit.stirred, unit.carried = {}, None, unit.protocol.lens.scope(event)
    unit.thread = unit.carried["thread_id"] if "thread_id" in unit.carried else _led_to(unit)


def _led_to(unit: Unit) -> str | None:
    """The thread of what an event without one is about, or None."""
    for name in _LEADS:
        record = unit.get(KINDS[name], unit.carried.get(name))
        if record and record.thread:
            return record.thread
    return None


def mention(unit: Unit) -> None:
    """Gives every subject that the present event names its place in the order, its session and its thread."""
    carried, thread = unit.carried, unit.thread
    if unit.mentioned == (carried, thread):
        return  # the event before it named the same
    unit.mentioned = (carried, thread)
    for name, identity in carried.items():
        kind = KINDS.get(name)
        if kind is None:
            continue
        known = unit.look(kind, identity)
        if known is not None and known.session and (known.thread or kind == "session" or not thread):
            continue
        record = unit.edit(kind, identity)
        record.session = record.session or carried.get("session_id")
        record.thread = record.thread or (thread if kind != "session" else None)


def scopes(unit: Unit) -> list[str]:
    """Names of the scopes that the present event feeds: its session, its thread, its turn."""
    carried = unit.carried
    found = (("session", carried.get("session_id")), ("thread", unit.thread), ("turn", carried.get("turn_id")))
    return [f"{kind}|{identity}" for kind, identity in found if identity]
