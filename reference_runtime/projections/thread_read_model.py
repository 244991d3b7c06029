"""`thread_read_model` (19.7): everything needed to show one thread without replaying it."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import context_boundary_snapshot, entries, queue_snapshot, subagent_job_summary
from reference_runtime.projections.told import Told
from reference_runtime.projections.turns import active_turn, last_outcome, shown_status
from validator.protocol.honest import known

_DOUBTFUL = {"lost", "stale", "unknown"}


def _thread(record: Record) -> Any:
    return [entries.status(record), record.data.get("status_reason"), record.data.get("title")]


def _turn(record: Record) -> Any:
    marks = [record.state, *(record.data.get(name) for name in ("started", "interrupting", "summary"))]
    return [entries.turn(record), marks]


def _call(record: Record) -> Any:
    hidden = record.data.get("removed") or "turn_id" not in record.data
    return None if hidden and not entries.failed_call(record) else entries.tool_call(record)


def _process(record: Record) -> Any:
    hidden = record.data.get("removed") or "turn_id" not in record.data
    return None if hidden and "ended_at" in record.data else entries.process(record)


def _artifact(record: Record) -> Any:
    listed = record.data.get("told") and not record.data["deleted"]
    return [record.id if listed else None, record.data.get("threads"), entries.of_task(entries.artifact)(record)]


VIEWS = {
    "thread": Told(_thread, "status", "status_reason", "title"),
    "turn": _turn,
    "step": entries.step,
    "action": entries.pending_action,
    "incident": entries.incident,
    "place": queue_snapshot.place,
    "line": lambda record: record.data.get("order", []),
    "warning": lambda record: record.data,
    "tool_call": _call,
    "process": _process,
    "task": entries.TASK,
    "attempt": entries.ATTEMPT,
    "edge": entries.edge,
    "artifact": _artifact,
    "reference": lambda record: [record.data["ref"], record.data.get("threads")],
    "compaction_entry": lambda record: record.data,
    "context": lambda record: _gaps(record),
    "subagent": lambda record: record.id if record.known else None,
    "job": lambda record: record.id if record.known else None,
    "channel": lambda record: [record.id, record.data.get("threads")] if record.known else None,
    "limit_event": lambda record: record.data.get("stops") or None,
}


def build(unit: Unit, session: str, thread: str | None = None) -> dict[str, Any]:
    record = unit.get("thread", thread)
    turns = [one for one in unit.find("turn", thread_id=thread) if one.known]
    calls, processes = unit.find("tool_call", thread_id=thread), unit.find("process", thread_id=thread)
    tasks = [one for one in unit.find("task", thread_id=thread) if one.known]
    compactions = context_boundary_snapshot.entries_of(unit, thread)
    return {
        "status": shown_status(unit, record) if record and record.known else "unknown",
        "status_reason": record.data.get("status_reason") if record else None,
        "title": record.data.get("title") if record else None,
        "active_turn_id": active_turn(turns),
        "turns": [shown for one in turns if (shown := entries.turn(one, _steps(unit, one)))],
        "pending_requests": pending(unit, thread_id=thread),
        "last_outcome": last_outcome(turns),
        "incidents": _incidents(unit, session, thread),
        "queued_turns": queue_snapshot.items(unit, thread),
        "diagnostics": _diagnostics(unit, thread, turns, calls, processes, tasks),
        "tool_calls": [shown for one in calls if (shown := _call(one))],
        "processes": [shown for one in processes if (shown := _process(one))],
        "tasks": [entries.task(unit, one) for one in tasks],
        "compaction": compactions[-1] if compactions else None,
        "artifact_ids": [one.id for one in _told_in(unit, "artifact", session, thread) if _artifact(one)[0]],
        "evidence_refs": [one.data["ref"] for one in _told_in(unit, "reference", session, thread)],
        "subagent_ids": [one.id for one in unit.find("subagent", thread_id=thread) if one.known],
        "job_ids": [one.id for one in subagent_job_summary.jobs_of(unit, thread) if one.known],
        "channel_ids": [one.id for one in _told_in(unit, "channel", session, thread) if one.known],
    }


def pending(unit: Unit, **where: str) -> list[dict[str, Any]]:
    """Every unresolved action, in order."""
    return [shown for one in unit.find("action", is_open=True, **where) if (shown := entries.pending_action(one))]


def _steps(unit: Unit, turn: Record) -> list[Record]:
    return [one for one in unit.find("step", turn_id=turn.id) if entries.step(one)]


def _incidents(unit: Unit, session: str, thread: str | None) -> list[dict[str, Any]]:
    found = (one for one in unit.find("incident", session_id=session) if one.thread in {None, thread})
    return [shown for one in found if (shown := entries.incident(one))]


def _told_in(unit: Unit, kind: str, session: str, thread: str | None) -> list[Record]:
    return [one for one in unit.find(kind, session_id=session) if thread in one.data.get("threads", ())]


def _gaps(record: Record | None) -> list[str] | None:
    missing = record.data.get("missing_facts") if record else None
    return [fact["name"] for fact in missing] if isinstance(missing, list) else None


def _diagnostics(
    unit: Unit,
    thread: str | None,
    turns: list[Record],
    calls: list[Record],
    processes: list[Record],
    tasks: list[Record],
) -> dict[str, Any]:
    interrupting = any(t.data.get("interrupting") and "ended_at" not in t.data for t in turns)
    found = {
        "warnings": [one.data["text"] for one in unit.find("warning", thread_id=thread or "")],
        "failed_tool_call_ids": [one.id for one in calls if entries.failed_call(one)],
        "failed_process_ids": [one.id for one in processes if entries.status(one) == "failed"],
        "stalled_turn_ids": [one.id for one in turns if entries.status(one) in _DOUBTFUL],
        "stalled_task_ids": [one.id for one in tasks if entries.status(one) in _DOUBTFUL],
        "lost_worker_ids": _lost_workers(unit, tasks),
        "interrupt_state": "requested" if interrupting else "none",
        "quota_blocks": _quota_blocks(unit, turns),
        "context_gaps": _gaps(unit.get("context", thread)),
    }
    return copied("diagnostics", found)


def _lost_workers(unit: Unit, tasks: list[Record]) -> list[str]:
    found: dict[str, None] = {}
    for task in tasks:
        for attempt in unit.find("attempt", task_id=task.id):
            worker = (known(attempt.data.get("worker")) or {}).get("worker_id")
            if attempt.state == "lost" and isinstance(worker, str):
                found[worker] = None
        if task.state == "lost" and isinstance(task.data.get("lost_worker"), str):
            found[task.data["lost_worker"]] = None
    return list(found)


def _quota_blocks(unit: Unit, turns: list[Record]) -> list[Any]:
    blocked = [turn.id for turn in turns if turn.state == "blocked" and turn.data.get("quota_blocked")]
    events = [one for turn in blocked for one in unit.find("limit_event", turn_id=turn) if one.data.get("blocks")]
    return [one.data.get("message", one.data["event_kind"]) for one in sorted(events, key=lambda one: one.ordinal)]
