"""A store in memory: the twin of the durable one, for tests and for showing off."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from reference_runtime.errors import PositionConflict
from reference_runtime.facts.record import LINKS, Record
from reference_runtime.log.base import Change, Key, Store


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
        self._links: dict[tuple[str, str, str], dict[str, None]] = {}
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
        names = [self._links.get((kind, name, value), {}) for name, value in where.items()]
        names = names or [self._links.get((kind, "", ""), {})]
        ids = set(names[0]).intersection(*names[1:])
        found = [self._records[(kind, identity)] for identity in ids]
        kept = (record for record in found if is_open is None or record.open == is_open)
        return [record.copy() for record in sorted(kept, key=lambda record: record.ordinal)]

    def linked(self, link: Key) -> None:
        """Everything is at hand, so there is nothing to know beforehand."""

    def seek(self, kind: str, where: dict[str, str], is_open: bool | None) -> list[Record]:
        return self.find(kind, where, is_open)

    def read(self, after: int = 0, session: str | None = None) -> Iterator[dict[str, Any]]:
        for stream, line in self._events[after:]:
            if session is None or stream == session:
                yield json.loads(line)

    def tail(self, session: str, after: int, limit: int) -> list[dict[str, Any]]:
        # No event stands before the place that its sequence counts to.
        behind = (event for event in self.read(after, session) if event["sequence"] > after)
        return list(itertools.islice(behind, limit))

    def reply(self, key: str) -> tuple[str, dict[str, Any]] | None:
        kept = self._replies.get(key)
        return (kept[0], json.loads(kept[1])) if kept else None

    def commit(self, change: Change) -> None:
        if change.position != len(self._events):
            raise PositionConflict(f"decided at {change.position}, the log is at {len(self._events)}")
        lines = [json.dumps(event) for event in change.events]
        self._events += zip(change.streams, lines, strict=True)
        for record in change.records:
            self._records[record.key] = record.copy()
            self._links.setdefault((record.kind, "", ""), {})[record.id] = None
            for name in ("session_id", "thread_id", *LINKS):
                if (value := record.link(name)) is not None:
                    self._links.setdefault((record.kind, name, value), {})[record.id] = None
        self._ordinal = change.ordinal
        if change.reply:
            key, digest, answer = change.reply
            self._replies[key] = (digest, json.dumps(answer))

    def close(self) -> None:
        """Nothing is held."""
