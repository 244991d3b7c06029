"""Child agents."""

from __future__ import annotations

from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, keep, told
from reference_runtime.facts.unit import Unit

_PARENTS = ("session_id", "thread_id", "turn_id", "task_id")


def subagent(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said, kind = unit.edit("subagent", event["subagent_id"]), told(event), event["type"]
    if kind == "subagent.spawned":
        parents = {f"parent_{name}": event[name] for name in _PARENTS if event.get(name) is not None}
        keep(record, {**parents, **said}, *(f"parent_{name}" for name in _PARENTS))
        keep(record, said, "child_thread_id", "role", "nickname", "isolation", "model_policy")
        if isinstance(record.data.get("parent_thread_id"), str):
            record.thread = record.data["parent_thread_id"]
    elif kind == "subagent.failed":
        record.data["last_error"] = said.get("error")
    elif kind == "subagent.completed":
        keep(record, said, "summary")


def output(unit: Unit, event: Event, moves: list[Move]) -> None:
    keep(unit.edit("subagent", event["subagent_id"]), told(event), "summary")
