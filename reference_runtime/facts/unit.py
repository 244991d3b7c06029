"""A unit of work: the records as they would be if what was decided so far were kept.

Decisions read through it, events change it, and nothing reaches the store before the service commits it whole. What
an event touches is copied first, so that the projections can tell what the event changed.
"""

from __future__ import annotations

from typing import Any, ClassVar

from reference_runtime.contract import CORE
from reference_runtime.facts.record import Record
from reference_runtime.log.base import Change, Store
from validator.protocol.protocol import Protocol

Key = tuple[str, str]


class Unit:
    """Reads through to a store, and keeps changes to itself."""

    words: ClassVar[dict[str, str]] = {
        "run": "attempt",
        "item": "job_item",
        "call": "tool_call",
        "request": "model_request",
        "queued": "queue",
    }
    """Words with which ids begin, where the kind of their subject is another one."""
    unshown: ClassVar[frozenset[str]] = frozenset({"counter", "model", "stream"})
    """Kinds of records that no read model shows: what they were like before an event is of no interest."""

    def __init__(self, store: Store, protocol: Protocol | None = None):
        self.protocol = protocol or CORE.protocol
        self.position = store.position()
        self.ordinal = store.ordinal()
        self.events: list[dict[str, Any]] = []
        self._store = store
        self._held: dict[Key, Record | None] = {}
        self._dirty: dict[Key, None] = {}
        self._carried: tuple[Any, dict[str, str]] = (None, {})
        self.before: dict[Key, Record | None] = {}
        """What the records that the present event touched were like before it."""

    def carried(self, event: dict[str, Any]) -> dict[str, str]:
        """The identities that an event carries; read once per event."""
        if self._carried[0] is not event:
            self._carried = (event, self.protocol.lens.scope(event))
        return self._carried[1]

    def get(self, kind: str, identity: str | None) -> Record | None:
        """A record to read, or None."""
        if identity is None:
            return None
        key = (kind, identity)
        if key not in self._held:
            self._held[key] = self._store.load(kind, identity)
        return self._held[key]

    def edit(self, kind: str, identity: str) -> Record:
        """A record to change; made when there is none."""
        key = (kind, identity)
        record = self.get(kind, identity)
        if key not in self.before and kind not in self.unshown:
            self.before[key] = record.copy() if record else None
        self._dirty[key] = None
        if record is None:
            self.ordinal += 1
            # A subject of a state table is open once it took a row, not when it is first mentioned.
            record = self._held[key] = Record(kind, identity, self.ordinal, open=kind not in self.protocol.machines)
        return record

    def find(self, kind: str, is_open: bool | None = None, **where: str) -> list[Record]:
        """The records of a kind told with all the ids named, in the order of first mention."""
        found = {}
        for record in self._store.find(kind, where, is_open):
            found[record.id] = self._held.setdefault(record.key, record) or record
        for key in self._dirty:
            if key[0] == kind:
                found[key[1]] = self._held[key]
        return sorted((r for r in found.values() if _fits(r, is_open, where)), key=lambda record: record.ordinal)

    def state(self, kind: str, identity: str | None) -> str:
        """Where a subject stands in its table; `none` when it is not known."""
        record = self.get(kind, identity)
        return record.state if record else "none"

    def new_id(self, word: str) -> str:
        """An id that no subject has: a word and the next free number."""
        counter, kind = self.edit("counter", word), self.words.get(word, word)
        while True:
            counter.data["last"] = counter.data.get("last", 0) + 1
            identity = f"{word}_{counter.data['last']}"
            if self.get(kind, identity) is None:
                return identity

    def change(self) -> Change:
        """What a store has to keep."""
        records = [self._held[key] for key in self._dirty]
        return Change(self.position, self.ordinal, self.events, records, streams=[*map(self.stream, self.events)])

    def stream(self, event: dict[str, Any]) -> str | None:
        """The stream by which an event is read again."""
        return event.get("session_id")


def _fits(record: Record, is_open: bool | None, where: dict[str, str]) -> bool:
    opened = is_open is None or record.open == is_open
    return opened and all(record.link(name) == value for name, value in where.items())
