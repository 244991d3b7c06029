"""A record: one subject as far as its events have told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LINKS = (
    *("turn_id", "task_id", "tool_call_id", "process_id", "job_id", "subagent_id", "channel_id", "parent_task_id"),
    *("run_id", "fork_from_message_id"),
)
"""Identities by which records of other subjects are found: the calls of a turn, the approvals of a run."""


@dataclass(slots=True)
class Record:
    """One subject: where it stands in its table, which ids it was told with, and what was told about it."""

    kind: str
    id: str
    ordinal: int
    """Place in the order of first mention; it never changes."""
    session: str | None = None
    thread: str | None = None
    state: str = "none"
    open: bool = True
    scope: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.id

    @property
    def known(self) -> bool:
        """True once a row of its table was taken; before that it was only mentioned."""
        return self.state != "none"

    def link(self, name: str) -> str | None:
        """The identity a query may ask for."""
        if name == "session_id":
            return self.session
        if name == "thread_id":
            return self.thread
        return self.scope.get(name)

    def copy(self) -> Record:
        data = copied(self.data)
        place = (self.kind, self.id, self.ordinal, self.session, self.thread)
        return Record(*place, self.state, self.open, self.scope.copy(), data)


def copied(value: Any) -> Any:
    """A value of JSON that shares nothing with the original that could be changed."""
    kind = type(value)
    if kind is dict:
        return {name: copied(entry) if type(entry) in _HOLDING else entry for name, entry in value.items()}
    if kind is list or kind is tuple:
        return [copied(entry) if type(entry) in _HOLDING else entry for entry in value]
    return value


_HOLDING = (dict, list, tuple)
