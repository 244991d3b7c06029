"""Streams of the core in which snapshots that say little are served of much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tests.bench.crowds.written import CREATED, Event, snapshot, unknown

_TASKS = ("task_summary", "active", "waiting", "blocked", "failed", "lost", "recent_terminal")
_CHILD = {"parent_task_id": "t", "role": "reader", "objective": "Read", "permission_mode": "ask"}
_TOLD: dict[str, tuple[str, str, Event, tuple[str, ...]]] = {
    "subagent_job_summary": ("subagent.spawned", "subagent_id", _CHILD, ("subagents", "jobs")),
    "channel_summary": ("channel.connected", "channel_id", {"channel_kind": "cli"}, ("channels",)),
    "task_snapshot": ("task.created", "task_id", {"title": "T", "objective": "O"}, _TASKS),
    "artifact_checkpoint_summary": ("artifact.created", "artifact_id", {"kind": "file"}, ("artifacts",)),
    "execution_environment_snapshot": ("process.started", "process_id", {"command": "ls"}, ("active_processes",)),
    "session_snapshot": ("artifact.created", "artifact_id", {"kind": "file"}, ("threads",)),
}
"""By model: an event that feeds it, the id that is new in each, what that event says, and fields it must have."""


def snapshots(model: str, events: int) -> Iterator[Event]:
    """Events of one kind, each about something new, and a snapshot after each that says of all of it nothing."""
    kind, name, told, fields = _TOLD[model]
    yield _event(1, "session.created", {"title": "S", "workspace_id": "w", "created_at": CREATED})
    yield _event(2, "thread.started", {"title": "T"}, thread_id="h")
    for number in range(3, events // 2):
        yield _event(number, kind, told, thread_id="h", **{name: f"n{number}"})
        head = {"session_id": "s", "freshness": "current", "as_of_sequence": number}
        status = {"status": "active"} if model == "session_snapshot" else {}
        yield snapshot(model, {**head, **status, **dict.fromkeys(fields, unknown("Too much to tell."))})


def _event(sequence: int, kind: str, payload: Event, **ids: str) -> Event:
    head = {"type": kind, "event_id": f"e{sequence}", "timestamp": CREATED, "sequence": sequence, "session_id": "s"}
    return {**head, **ids, "payload": payload}


CROWDS: dict[str, Callable[[int], Iterator[Event]]] = {
    f"{model} that says little, after every event": partial(snapshots, model) for model in _TOLD
}
"""By what there is much of."""
