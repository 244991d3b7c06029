"""The tasks of a session or thread, by status."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from validator.replay.readmodels.agent_runtime.facts import Facts
from validator.replay.readmodels.agent_runtime.records import Later
from validator.replay.readmodels.agent_runtime.scope import Scope
from validator.replay.readmodels.agent_runtime.tasks import Tasks

LISTS = {
    "active": ("draft", "accepted", "preparing", "running", "paused", "retrying", "cancelling"),
    "waiting": ("queued", "waiting_input", "waiting_permission", "waiting_resource"),
    "blocked": ("blocked",),
    "failed": ("failed", "timed_out"),
    "lost": ("lost", "stale", "unknown"),
    "recent_terminal": ("completed", "cancelled", "archived"),
}
LIST_OF = {status: name for name, statuses in LISTS.items() for status in statuses}
OVER = ("completed", "failed", "cancelled", "timed_out", "archived")
WORST = (
    "failed",
    "parent_missing",
    "blocked",
    "unavailable",
    "unknown",
    "stale",
    "pending",
    "queued",
    "delivered",
    "not_applicable",
)


def counts(facts: Facts, scope: Scope) -> dict[str, int]:
    """How many tasks stand in each list, and how many are over."""
    statuses = [facts.status("task", key) for key in facts.of(Tasks).known(scope)]
    listed = [LIST_OF.get(str(status)) for status in statuses]
    return {name: listed.count(name) for name in LISTS} | {"terminal": sum(status in OVER for status in statuses)}


def build(facts: Facts, scope: Scope) -> dict[str, Any] | None:
    """The `task_snapshot`."""
    tasks = facts.of(Tasks)
    known = tasks.known(scope)
    if not known:
        return None
    listed = functools.cache(lambda: _listed(facts, known))
    return {
        "task_summary": Later(lambda: counts(facts, scope)),
        **{name: Later(functools.partial(_list, listed, name)) for name in LISTS},
        "task_graph": Later(lambda: {"nodes": known, "edges": _edges(tasks, known)}),
        "current_attempts": Later(lambda: _current(facts, known)),
        "delivery_state": Later(lambda: _delivery(facts, [key for key in known if facts.is_over("task", key)])),
    }


def _listed(facts: Facts, known: list[str]) -> dict[str, list[dict[str, Any]]]:
    """The entries of tasks by the list in which each stands."""
    lists: dict[str, list[dict[str, Any]]] = {name: [] for name in LISTS}
    for key in known:
        lists[LIST_OF[str(facts.status("task", key))]].append(facts.of(Tasks).record(key))
    return lists


def _list(listed: Callable[[], dict[str, list[dict[str, Any]]]], name: str) -> list[dict[str, Any]]:
    return listed()[name]


def _current(facts: Facts, known: list[str]) -> list[dict[str, Any]]:
    """The newest attempts of tasks that are not over."""
    attempts = (facts.of(Tasks).attempts(key)[-1:] for key in known if not facts.is_over("task", key))
    return [attempt for newest in attempts for attempt in newest]


def _edges(tasks: Tasks, known: list[str]) -> list[dict[str, Any]]:
    edges = [(key, *name, edge) for key in known for name, edge in tasks.tasks[key].edges.items()]
    return [
        {"from_id": key, "kind": kind, "to_id": target, "status": edge.shown}
        for key, kind, target, edge in sorted(edges, key=lambda entry: entry[3].drawn)
    ]


def _delivery(facts: Facts, ended: list[str]) -> str:
    told = [_delivered(facts.of(Tasks).tasks[key]) for key in ended]
    return min(told, key=WORST.index, default="not_applicable")


def _delivered(task: Any) -> str:
    state = task.said.get("delivery_state")
    if isinstance(state, dict):
        state = state.get("honest")
    untold = "not_applicable" if task.delivery_required is False else "unknown"
    return state if state in WORST else untold
