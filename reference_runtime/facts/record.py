"""A record: one subject as far as its events have told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LINKS = (
    *("turn_id", "task_id", "tool_call_id", "process_id", "job_id", "subagent_id", "channel_id", "parent_task_id"),
    *("run_id", "fork_from_message_id"),
)
"""Identities by which records of other subjects are found: the calls of a turn, the approvals of a run."""
OWN_LINKS = {
    "turn": "turn_id",
    "task": "task_id",
    "attempt": "run_id",
    "tool_call": "tool_call_id",
    "process": "process_id",
    "job": "job_id",
    "subagent": "subagent_id",
    "channel": "channel_id",
}
"""By kind of subject, the identity that it gives to others. Whoever is told with one of these mentions the subject, so
nothing is linked to a subject before there is a record of it."""


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
    """Replaced and never changed, because copies share it."""
    data: dict[str, Any] = field(default_factory=dict)
    deep: tuple[str, ...] | None = field(default=None, compare=False)
    """Once nobody changes it any more, the fields that hold objects or lists: what a store remembers is copied again
    and again."""

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

    def tell(self, name: str, identity: str) -> None:
        """Notes an identity that it was told with."""
        if self.scope.get(name) != identity:
            self.scope = {**self.scope, name: identity}

    def stands_as(self, other: Record) -> bool:
        """True when queries find both by the same."""
        if self.open != other.open or self.session != other.session or self.thread != other.thread:
            return False
        return self.scope is other.scope or self.scope == other.scope

    def fits(self, where: dict[str, str], is_open: bool | None) -> bool:
        """True when it was told with all the ids named, and is as open as asked for."""
        if is_open is not None and self.open != is_open:
            return False
        for name, value in where.items():  # noqa: SIM110 - a generator takes three times as long, and all found are asked
            if self.link(name) != value:
                return False
        return True

    def settle(self) -> None:
        """Lets go of what somebody else may hold and change; whoever has the record changes it no more."""
        self.deep = _deep(self.data)
        if self.deep:
            self.data = _parted(self.data.copy(), self.deep)

    def copy(self) -> Record:
        data, deep = self.data.copy(), self.deep
        if deep is None:
            deep = _deep(data)
        if deep:
            data = _parted(data, deep)
        made = _bare(Record)  # copies are made by the dozen for every command, and `__init__` takes a third of one
        made.kind, made.id, made.ordinal = self.kind, self.id, self.ordinal
        made.session, made.thread, made.state, made.open = self.session, self.thread, self.state, self.open
        made.scope, made.data, made.deep = self.scope, data, None
        return made


_bare = object.__new__
HOLDING = frozenset((dict, list, tuple))


def _deep(data: dict[str, Any]) -> tuple[str, ...]:
    """The fields that hold something which could be changed; most records have none."""
    if HOLDING.isdisjoint(map(type, data.values())):
        return ()
    return tuple([name for name, value in data.items() if type(value) in HOLDING])


def _parted(data: dict[str, Any], deep: tuple[str, ...]) -> dict[str, Any]:
    """A copy of an object that no longer shares these fields with the original."""
    for name in deep:
        data[name] = copied(data[name])
    return data


def copied(value: Any) -> Any:
    """A value of JSON that shares nothing with the original that could be changed."""
    kind = type(value)
    if kind is dict:
        return _parted(value.copy(), _deep(value))
    if kind is list or kind is tuple:
        return [copied(entry) if type(entry) in HOLDING else entry for entry in value]
    return value
