"""A store in memory: the twin of the durable one, for tests and for showing off."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from reference_runtime.errors import PositionConflict
from reference_runtime.facts.record import LINKS, Record
from reference_runtime.log.base import Change, Key, Store

Link = tuple[str, str, str]
"""The kind of a record, and the name and value of an identity that it was told with; both empty for all of a kind."""


class Loading(dict[Key, Record | None]):
    """The records of a store, each loaded when it is asked for, and every time."""

    def __init__(self, store: Store):
        super().__init__()
        self._store = store

    def __missing__(self, key: Key) -> Record | None:
        return self._store.load(*key)


class MemoryStore:
    """Keeps copies, so that nobody changes what is kept by holding on to what they read."""

    def __init__(self) -> None:
        self._events: list[tuple[str | None, str]] = []
        self._records: dict[tuple[str, str], Record] = {}
        self._streams: dict[str | None, list[str]] = {}
        """The events of each stream."""
        self._links: dict[Link, dict[str, None]] = {}
        self._open: dict[Link, dict[str, None]] = {}
        """The same of the records that are open."""
        self._replies: dict[str, tuple[str, str]] = {}
        self._ordinal = 0
        self.records = Loading(self)

    def position(self) -> int:
        return len(self._events)

    def ordinal(self) -> int:
        return self._ordinal

    def load(self, kind: str, identity: str) -> Record | None:
        found = self._records.get((kind, identity))
        return found.copy() if found else None

    def find(self, kind: str, where: dict[str, str], is_open: bool | None) -> list[Record]:
        links = [(kind, name, value) for name, value in where.items()] or [(kind, "", "")]
        filed = self._open if is_open else self._links
        fewest, *others = sorted([filed.get(link, {}) for link in links], key=len)
        found = [self._records[kind, identity] for identity in fewest if all(identity in other for other in others)]
        kept = (record for record in found if is_open is None or record.open == is_open)
        return [record.copy() for record in sorted(kept, key=lambda record: record.ordinal)]

    def linked(self, link: Key) -> None:
        """Everything is at hand, so there is nothing to know beforehand."""

    def seek(self, kind: str, where: dict[str, str], is_open: bool | None) -> list[Record]:
        return self.find(kind, where, is_open)

    def read(self, after: int = 0, session: str | None = None) -> Iterator[dict[str, Any]]:
        if session is not None and not after:
            lines = self._streams.get(session, []).copy()
        else:
            lines = [line for stream, line in self._events[after:] if session is None or stream == session]
        yield from map(json.loads, lines)

    def tail(self, session: str, after: int, limit: int) -> list[dict[str, Any]]:
        lines = self._streams.get(session, [])
        # No event stands before the place in its stream that its sequence counts to.
        events = (json.loads(lines[place]) for place in range(after, len(lines)))
        return list(itertools.islice((event for event in events if event["sequence"] > after), limit))

    def reply(self, key: str) -> tuple[str, dict[str, Any]] | None:
        kept = self._replies.get(key)
        return (kept[0], json.loads(kept[1])) if kept else None

    def commit(self, change: Change) -> None:
        if change.position != len(self._events):
            raise PositionConflict(f"decided at {change.position}, the log is at {len(self._events)}")
        lines = [json.dumps(event) for event in change.events]
        for stream, line in zip(change.streams, lines, strict=True):
            self._events.append((stream, line))
            self._streams.setdefault(stream, []).append(line)
        for record in change.records:
            self._records[record.key] = record.copy()
            self._file(record)
        self._ordinal = change.ordinal
        if change.reply:
            key, digest, answer = change.reply
            self._replies[key] = (digest, json.dumps(answer))

    def _file(self, record: Record) -> None:
        """Files a record under what it was told with; one that is over is no longer filed as open."""
        links = [(record.kind, name, record.link(name)) for name in ("session_id", "thread_id", *LINKS)]
        for link in [(record.kind, "", ""), *(link for link in links if link[2] is not None)]:
            self._links.setdefault(link, {})[record.id] = None
            if record.open:
                self._open.setdefault(link, {})[record.id] = None
            elif (others := self._open.get(link)) is not None:
                others.pop(record.id, None)
                if not others:
                    del self._open[link]

    def close(self) -> None:
        """Nothing is held."""
