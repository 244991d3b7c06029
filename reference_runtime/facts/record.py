"""A record: one subject as far as its events have told."""

from __future__ import annotations

import json
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

    def dump(self) -> str:
        return json.dumps([self.state, self.scope, self.data], separators=(",", ":"))

    def copy(self) -> Record:
        state, scope, data = json.loads(self.dump())
        return Record(self.kind, self.id, self.ordinal, self.session, self.thread, state, self.open, scope, data)
