"""Turns and their steps."""

from __future__ import annotations

from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, keep, told
from reference_runtime.facts.unit import Unit

_STEP_KINDS = {
    "tool": "tool",
    "process": "tool",
    "action": "action",
    "permission": "action",
    "artifact": "artifact",
    "evidence": "evidence",
    "run": "status",
    "runtime": "warning",
    "model": "message",
    "reasoning": "message",
}


def turn(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said, kind = unit.edit("turn", event["turn_id"]), told(event), event["type"]
    keep(record, event, "task_id", "run_id")
    if kind == "turn.submitted":
        keep(record, said, "input_ref", "source", "source_channel_id")
        record.data["submitted"] = unit.position + len(unit.events) + 1
        record.data["sequence"] = event.get("sequence")
        unit.edit("session", event["session_id"]).data["last_submitted"] = event.get("thread_id")
        _source_channel(unit, event, said.get("source_channel_id"))
    elif kind == "turn.started":
        keep(record, said, "run_id")
        record.data.setdefault("started_at", event["timestamp"])
        record.data["started"] = unit.position + len(unit.events) + 1
    elif kind == "turn.completed":
        keep(record, said, "usage")


def _source_channel(unit: Unit, event: Event, channel: object) -> None:
    if isinstance(channel, str) and unit.get("channel", channel):
        threads = unit.edit("channel", channel).data.setdefault("threads", [])
        if event.get("thread_id") not in threads:
            threads.append(event.get("thread_id"))


def outcome(unit: Unit, event: Event, moves: list[Move]) -> None:
    """How a turn ended, or that it was lost; what came before or after says nothing about the end."""
    for place, move in enumerate(moves):
        if move.machine.name != "turn" or not move.changed:
            continue
        said, data = told(event), unit.edit("turn", move.record.id).data
        for name in ("error", "reason", "summary", "outcome_at", "cause"):
            data.pop(name, None)
        if move.ended or move.target == "lost":
            if event["type"] in {"turn.failed", "queue.changed"}:
                data.update({name: said[name] for name in ("error", "reason") if name in said})
            if event["type"] == "turn.failed":
                data["cause"] = said.get("reason")
            elif "summary" in said:
                data["summary"] = said["summary"]
            data["outcome_at"] = event["timestamp"]
            data["outcome"] = [unit.position + len(unit.events) + 1, place]


def status(unit: Unit, event: Event, moves: list[Move]) -> None:
    """A status in words moves nothing; that an interrupt was asked for is remembered."""
    if told(event).get("phase") == "interrupting" and isinstance(event.get("turn_id"), str):
        unit.edit("turn", event["turn_id"]).data["interrupting"] = True


def step(unit: Unit, event: Event) -> None:
    """One ordered item, told by whatever event carries its id."""
    identity = event.get("step_id")
    if not isinstance(identity, str):
        return
    record, said, family = unit.edit("step", identity), told(event), event["type"].partition(".")[0]
    if event.get("turn_id") and "turn_id" not in record.scope:
        record.tell("turn_id", event["turn_id"])
    if "sequence" not in record.data:
        record.data["sequence"] = event.get("sequence")
        kind = said.get("item_kind") if family == "item" else _STEP_KINDS.get(family)
        record.data.update({"kind": kind} if kind else {})
    keep(record, said, "title", "tool_name", "content_ref")
    keep(record, {**event, **said}, "output_ref")
