"""`session_snapshot` (19.6): the shell of a session."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import entries, task_snapshot
from reference_runtime.projections.told import Standing, Told
from reference_runtime.projections.turns import active_turn, shown_status

_SHELL = ("runtime_id", "title", "workspace_id", "account_ref", "created_at", "pinned_thread_ids", "telemetry")


def _session(record: Record) -> Any:
    data = record.data
    names = (*_SHELL, "active_thread_id", "last_submitted", "window")
    return {name: data[name] for name in names if name in data}


def _thread(record: Record) -> Any:
    return [entries.status(record), record.data.get("title"), record.data.get("updated_at")] if record.known else None


def _turn(record: Record) -> Any:
    return [entries.turn(record), record.data.get("started"), record.state]


def _artifact(record: Record) -> Any:
    return record.id if record.data.get("told") and not record.data["deleted"] else None


def _output(record: Record) -> Any:
    return copied("output", {"output_ref": record.id, **record.data})


VIEWS = {
    "session": _session,
    "thread": Told(_thread, "status", "title", "updated_at"),
    "turn": _turn,
    "step": entries.step,
    "boundary": lambda record: record.data,
    "task": Standing(task_snapshot.standing),
    "subagent": lambda record: record.id if record.known else None,
    "artifact": _artifact,
    "reference": entries.reference,
    "output": _output,
}


def build(unit: Unit, session: str, thread: str | None = None) -> dict[str, Any]:
    record = unit.get("session", session)
    data = record.data if record else {}
    turns, steps = _window(unit, session, data.get("window", {}))
    return {
        "status": "active" if record else "unknown",
        **{name: data.get(name) for name in _SHELL},
        "active_thread_id": data.get("active_thread_id", data.get("last_submitted")),
        "threads": [_summary(unit, one) for one in unit.find("thread", session_id=session) if one.known],
        "recent_turns": turns,
        "recent_steps": steps,
        **_history(data),
        "history_boundaries": [
            copied("history_boundary", one.data) for one in unit.find("boundary", session_id=session)
        ],
        "task_summary": task_snapshot.counts(unit.find("task", session_id=session)),
        "subagent_ids": [one.id for one in unit.find("subagent", session_id=session) if one.known],
        "evidence_refs": [one.data["ref"] for one in unit.find("reference", session_id=session)],
        "artifact_ids": [one.id for one in unit.find("artifact", session_id=session) if _artifact(one)],
        "outputs": [_output(one) for one in unit.find("output", session_id=session)],
    }


def _window(unit: Unit, session: str, window: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    first = window.get("first_sequence") if isinstance(window.get("first_sequence"), int) else None

    def inside(record: Record) -> bool:
        sequence = record.data.get("sequence")
        return first is None or sequence is None or sequence >= first

    steps = [one for one in unit.find("step", session_id=session) if entries.step(one)]
    turns = [one for one in unit.find("turn", session_id=session) if entries.turn(one)]
    shown = [entries.turn(one, [s for s in steps if s.scope.get("turn_id") == one.id]) for one in turns if inside(one)]
    return shown, [entries.step(one) for one in steps if inside(one)]


def _history(data: dict[str, Any]) -> dict[str, Any]:
    if "window" in data:
        return {"history_cursor": data["window"].get("cursor"), "history_truncated": data["window"].get("has_more")}
    return {"history_truncated": False if "created_at" in data else None}


def _summary(unit: Unit, record: Record) -> dict[str, Any]:
    active = active_turn(unit.find("turn", thread_id=record.id))
    told = {"thread_id": record.id, "status": shown_status(unit, record), "title": record.data.get("title")}
    return copied("thread_summary", {**told, "active_turn_id": active, "updated_at": record.data.get("updated_at")})
