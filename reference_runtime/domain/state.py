"""The state as decisions see it: records, settings, the time, and what is kept beside events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.log.base import Store
from reference_runtime.settings import Settings
from reference_runtime.stamping import Draft, written

Request = dict[str, Any]
Decision = Iterator[Draft]
"""A generator of drafts that returns the fields of the answer."""

_OWN = {
    "session": "session_id",
    "thread": "thread_id",
    "turn": "turn_id",
    "task": "task_id",
    "attempt": "run_id",
    "tool_call": "tool_call_id",
    "model_request": "model_request_id",
    "action": "action_id",
    "process": "process_id",
    "subagent": "subagent_id",
    "job": "job_id",
    "job_item": "job_item_id",
    "channel": "channel_id",
    "hook": "hook_run_id",
}
_CARRIED = {
    "turn": ("task_id",),
    "task": ("parent_task_id", "root_task_id"),
    "attempt": ("task_id", "parent_task_id", "root_task_id"),
    "tool_call": ("turn_id", "task_id", "step_id"),
    "model_request": ("turn_id", "task_id"),
    "action": ("turn_id", "task_id", "step_id", "tool_call_id", "process_id"),
    "process": ("turn_id", "task_id", "tool_call_id"),
    "permission": ("turn_id", "task_id", "step_id", "tool_call_id", "process_id", "action_id", "peer_task_id"),
    "subagent": ("turn_id", "task_id"),
    "job": ("task_id",),
    "job_item": ("job_id", "task_id"),
    "hook": ("turn_id", "task_id", "tool_call_id"),
}
ENDED = {"completed", "failed", "cancelled", "timed_out", "archived", "closed", "terminated", "succeeded", "denied"}


class State(Unit):
    """A unit of work with everything a decision may ask."""

    def __init__(self, store: Store, settings: Settings, moment: datetime, command_id: str | None = None):
        super().__init__(store)
        self.settings, self.command_id, self._moment = settings, command_id, moment

    @property
    def now(self) -> str:
        """The moment at which it was opened, as events carry it."""
        return written(self._moment)

    def need(self, kind: str, identity: str | None, **parents: str | None) -> Record:
        """A subject that is known, and known to belong where the caller says."""
        record = self.get(kind, identity)
        known = record and (record.known or kind == "session")
        if not known:
            raise CommandRejected(
                f"unknown_{kind}", f"There is no such {kind.replace('_', ' ')}.", category="not_found"
            )
        for name, value in parents.items():
            if value is not None and record.link(name) != value:
                raise CommandRejected(
                    "wrong_owner", f"The {kind} does not belong to that {name}.", category="not_found"
                )
        return record

    def keep(self, reference: str, content: Any) -> str:
        """Keeps content behind a reference, beside the events and never in them."""
        self.edit("blob", reference).data["content"] = content
        return reference

    def log(self, session: str) -> Iterator[dict[str, Any]]:
        """The events of a session that are kept, in order."""
        return self._store.read(session=session)

    def pending(self, **where: str) -> list[Record]:
        """Unresolved actions told with the ids named."""
        return self.find("action", is_open=True, **where)


def ids_of(record: Record, **more: str | None) -> dict[str, Any]:
    """The ids that an event about a subject carries."""
    carried = {name: record.scope.get(name) for name in _CARRIED.get(record.kind, ())}
    own = {_OWN[record.kind]: record.id} if record.kind in _OWN else {}
    thread = None if record.kind == "channel" else record.thread or record.scope.get("thread_id")
    return {"session_id": record.session, "thread_id": thread, **carried, **own, **more}


def about(record: Record, event: str, payload: dict[str, Any] | None = None, **more: str | None) -> Draft:
    """A draft of an event about a subject."""
    return Draft(event, ids_of(record, **more), payload or {})


def only(source: dict[str, Any], *names: str) -> dict[str, Any]:
    """The named fields that a request gives."""
    return {name: source[name] for name in names if source.get(name) is not None}
