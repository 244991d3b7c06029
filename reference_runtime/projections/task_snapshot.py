"""`task_snapshot` (19.10): tasks by status, their graph, their attempts and their delivery."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import entries

_BUCKETS = {
    "active": ("draft", "accepted", "preparing", "running", "paused", "retrying", "cancelling"),
    "waiting": ("queued", "waiting_input", "waiting_permission", "waiting_resource"),
    "blocked": ("blocked",),
    "failed": ("failed", "timed_out"),
    "lost": ("lost", "stale", "unknown"),
    "recent_terminal": ("completed", "cancelled", "archived"),
}
_BUCKET_OF = {status: name for name, statuses in _BUCKETS.items() for status in statuses}
_ENDED = {"completed", "failed", "cancelled", "timed_out", "archived"}
_WORST_FIRST = (
    *("failed", "parent_missing", "blocked", "unavailable", "unknown"),
    *("stale", "pending", "queued", "delivered", "not_applicable"),
)

VIEWS = {
    "task": entries.TASK,
    "attempt": entries.ATTEMPT,
    "edge": entries.edge,
    "artifact": entries.of_task(entries.artifact),
    "reference": entries.of_task(entries.reference),
}


def standing(state: str) -> tuple[str, bool] | None:
    """The list in which a task in a state stands, and whether it has ended."""
    return (_BUCKET_OF[state], state in _ENDED) if state != "none" else None


def counts(tasks: list[Record]) -> dict[str, int]:
    """Tasks by list; `terminal` are those that have ended."""
    found = dict.fromkeys((*_BUCKETS, "terminal"), 0)
    for task in (task for task in tasks if task.known):
        found[_BUCKET_OF[entries.status(task)]] += 1
        found["terminal"] += task.state in _ENDED
    return found


def build(unit: Unit, session: str, thread: str | None = None, tasks: list[Record] | None = None) -> dict[str, Any]:
    """The tasks of a session or thread, or of a selection of them."""
    where = {"session_id": session} if thread is None else {"session_id": session, "thread_id": thread}
    chosen = [one for one in (unit.find("task", **where) if tasks is None else tasks) if one.known]
    lists: dict[str, list[Any]] = {name: [] for name in _BUCKETS}
    for task in chosen:
        lists[_BUCKET_OF[entries.status(task)]].append(entries.task(unit, task))
    return {
        "task_summary": counts(chosen),
        **lists,
        "task_graph": {"nodes": [task.id for task in chosen], "edges": _edges(unit, chosen)},
        "current_attempts": _current(unit, chosen),
        "delivery_state": _delivery(chosen),
    }


def _edges(unit: Unit, tasks: list[Record]) -> list[dict[str, Any]]:
    drawn = sorted((edge for task in tasks for edge in unit.find("edge", task_id=task.id)), key=lambda one: one.ordinal)
    return [
        {
            "from_id": e.scope["task_id"],
            "kind": e.data["kind"],
            "to_id": e.data["target_id"],
            "status": e.data["status"],
        }
        for e in drawn
    ]


def _current(unit: Unit, tasks: list[Record]) -> list[dict[str, Any]]:
    going = (task for task in tasks if task.state not in _ENDED)
    newest = (unit.get("attempt", task.data.get("current_run_id")) for task in going)
    return [entries.attempt(record) for record in newest if record]


def _delivery(tasks: list[Record]) -> str:
    states = [_delivered(task) for task in tasks if task.state in _ENDED]
    return min(states, key=_WORST_FIRST.index, default="not_applicable")


def _delivered(task: Record) -> str:
    unsaid = "not_applicable" if task.data.get("delivery_required") is False else "unknown"
    return task.data.get("delivery_state", unsaid)
