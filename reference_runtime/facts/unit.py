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


_UNSOUGHT = Record("", "", 0)
"""Stands for a record that nobody asked the store for."""


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
        self._store, self._linked, self._records = store, store.linked, store.records
        self._kept: dict[Key, Record | None] = {}
        """Records as the store keeps them; what they were like before they were first touched needs no other copy."""
        self._held: dict[Key, Record | None] = {}
        """The same to read and to change, each copied when it is first asked for."""
        self._dirty: dict[Key, Record] = {}
        self._touched: set[str] = set()
        """The kinds of what is dirty."""
        self.shown: dict[str, Record] = {}
        """The records of read models that were touched here, by their ids."""
        self.carried: dict[str, str] = {}
        """The identities that the present event carries."""
        self.thread: str | None = None
        """The thread in whose scope the present event is."""
        self.mentioned: tuple[dict[str, str], str | None] | None = None
        """The identities and the thread whose subjects have had their place in the order since the last event."""
        self.stirred: Record | None = None
        """The thread that the present event gave its moment."""
        self.before: dict[Key, tuple[Record | None, Record]] = {}
        """The records that the present event touched: what each was like before it, and the record itself."""

    def get(self, kind: str, identity: str | None) -> Record | None:
        """A record to read, or None."""
        key = (kind, identity)
        held = self._held
        return held[key] if key in held else self._take(key)

    def _take(self, key: Key) -> Record | None:
        if key[1] is None:
            return None
        # What is there is asked for first: a look-up that may have to ask the file takes several times as long.
        kept = self._records.get(key, _UNSOUGHT)
        if kept is _UNSOUGHT:
            kept = self._records[key]
        self._kept[key] = kept
        held = self._held[key] = kept.copy() if kept is not None else None
        return held

    def _hold(self, key: Key, kept: Record) -> Record:
        """A record that the store found, copied so that it may be changed."""
        self._kept[key] = kept
        held = self._held[key] = kept.copy()
        return held

    def look(self, kind: str, identity: str) -> Record | None:
        """A record to read at once and not to hold on to, or None; it is not copied."""
        key = (kind, identity)
        held = self._held
        if key in held:
            return held[key]
        kept = self._records.get(key, _UNSOUGHT)
        return self._records[key] if kept is _UNSOUGHT else kept

    def edit(self, kind: str, identity: str) -> Record:
        """A record to change; made when there is none."""
        key = (kind, identity)
        if (touched := self.before.get(key)) is not None:
            return touched[1]  # the present event touched it already
        record = self._dirty.get(key)
        if record is None:
            held = self._held
            record = self._dirty[key] = (held[key] if key in held else self._take(key)) or self._begin(key)
            self._touched.add(kind)
            if kind not in self.unshown:
                self.before[key] = (self._kept.get(key), record)
        elif kind not in self.unshown:
            self.before[key] = (record.copy(), record)
        return record

    def stir(self, thread: str, moment: str) -> None:
        """Gives a thread the moment of the present event.

        Every event does, and it is known what shows it; so what the thread was like before it is not kept for that.
        """
        key = ("thread", thread)
        record = self._dirty.get(key)
        if record is None:
            record = self._dirty[key] = self.get(*key)
            self._touched.add("thread")
        if record.data.get("updated_at") != moment:
            record.data["updated_at"] = moment
            self.stirred = record if record.state != "none" else None

    def _begin(self, key: Key) -> Record:
        self.ordinal += 1
        # A subject of a state table is open once it took a row, not when it is first mentioned.
        made = self._held[key] = Record(*key, self.ordinal, open=key[0] not in self.protocol.machines)
        return made

    def find(self, kind: str, is_open: bool | None = None, **where: str) -> list[Record]:
        """The records of a kind told with all the ids named, in the order of first mention."""
        is_touched = kind in self._touched
        if not is_touched:
            for link in where.items():
                if (kinds := self._linked(link)) is not None and kind not in kinds:
                    return []
        sought, held = self._store.seek(kind, where, is_open), self._held
        if not is_touched:  # then all are as the store keeps them, and in order
            return [held.get((kind, kept.id)) or self._hold((kind, kept.id), kept) for kept in sought]
        found = {}
        for kept in sought:
            key = (kind, kept.id)
            found[key] = held.get(key) or self._hold(key, kept)
        for key, record in self._dirty.items():
            if key[0] == kind:
                found[key] = record
        fitting = [record for record in found.values() if record.fits(where, is_open)]
        return sorted(fitting, key=_place) if len(fitting) > 1 else fitting

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
            if self.look(kind, identity) is None:
                return identity

    def change(self) -> Change:
        """What a store has to keep."""
        streams = [*map(self.stream, self.events)]
        return Change(self.position, self.ordinal, self.events, [*self._dirty.values()], streams=streams)

    def stream(self, event: dict[str, Any]) -> str | None:
        """The stream by which an event is read again."""
        return event.get("session_id")


def _place(record: Record) -> int:
    return record.ordinal
