"""A store in one SQLite file, durable before a command is answered.

Write-ahead logging with `synchronous=FULL`: when `commit` returns, the change survives `kill -9` and a power cut.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference_runtime.errors import PositionConflict, StoreError, StoreFull, StoreLocked
from reference_runtime.facts.record import LINKS, Record
from reference_runtime.log.base import Change, Key
from reference_runtime.log.body import written
from reference_runtime.log.remembered import Remembered

_COLUMNS = ("session_id", "thread_id", *LINKS)
_SEQUENCE = "json_extract(body, '$.sequence')"
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS events (position INTEGER PRIMARY KEY, stream TEXT, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS events_by_stream ON events (stream, position);
CREATE INDEX IF NOT EXISTS events_by_sequence ON events (stream, {_SEQUENCE});
CREATE TABLE IF NOT EXISTS records (
  kind TEXT NOT NULL, id TEXT NOT NULL, ordinal INTEGER NOT NULL, open INTEGER NOT NULL,
  {", ".join(f"{name} TEXT" for name in _COLUMNS)}, body TEXT NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID;
{
    "".join(
        f"CREATE INDEX IF NOT EXISTS by_{name} ON records (kind, {name}, open) WHERE {name} IS NOT NULL;"
        for name in _COLUMNS
    )
}
CREATE INDEX IF NOT EXISTS open_records ON records (kind) WHERE open = 1;
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, digest TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""


class SqliteStore:
    """One file; one writer at a time."""

    def __init__(self, path: Path | str, *, wait_seconds: float = 2.0):
        try:
            self._db = sqlite3.connect(path, timeout=wait_seconds, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_SCHEMA)
            self._cursor = self._db.cursor()
        except sqlite3.Error as error:
            raise _translated(error) from error
        self._version: int | None = None
        self._ends: tuple[int, int] | None = None
        """The last position and the last ordinal in the file, until another writer changes it."""
        self._remembered = Remembered(self._load)
        self.records, self.linked = self._remembered.loaded, self._remembered.kin.get

    def position(self) -> int:
        """Also the moment at which what another writer changed is noticed."""
        version = self._one("PRAGMA data_version")[0]
        if version != self._version or self._remembered.is_full:
            self._version, self._ends = version, None
            self._remembered.clear()
        return self._known_ends()[0]

    def ordinal(self) -> int:
        return self._known_ends()[1]

    def _known_ends(self) -> tuple[int, int]:
        if self._ends is None:
            position = self._one("SELECT coalesce(max(position), 0) FROM events")[0]
            ordinal = self._one("SELECT value FROM counters WHERE name = 'ordinal'")
            self._ends = (position, ordinal[0] if ordinal else 0)
        return self._ends

    def load(self, kind: str, identity: str) -> Record | None:
        known = self.records[kind, identity]
        return known.copy() if known else None

    def _load(self, key: Key) -> Record | None:
        row = self._one(_LOAD, *key)
        return _record(row) if row else None

    def find(self, kind: str, where: dict[str, str], is_open: bool | None) -> list[Record]:
        return [record.copy() for record in self.seek(kind, where, is_open)]

    def seek(self, kind: str, where: dict[str, str], is_open: bool | None) -> list[Record]:
        found = self._remembered.find(kind, where, is_open)
        if found is None:
            found = self._select(kind, where, is_open)
            self._remembered.note(kind, where, is_open, found)
        return found

    def _select(self, kind: str, where: dict[str, str], is_open: bool | None) -> list[Record]:
        return [_record(row) for row in self._all(_asking(tuple(where), is_open), kind, *where.values())]

    def read(self, after: int = 0, session: str | None = None) -> Iterator[dict[str, Any]]:
        test, values = ("stream = ? AND ", (session,)) if session is not None else ("", ())
        sql = f"SELECT body FROM events WHERE {test}position > ? ORDER BY position"
        return (json.loads(body) for (body,) in self._all(sql, *values, after))

    def tail(self, session: str, after: int, limit: int) -> list[dict[str, Any]]:
        sql = f"SELECT body FROM events WHERE stream = ? AND {_SEQUENCE} > ? ORDER BY {_SEQUENCE} LIMIT ?"
        return [json.loads(body) for (body,) in self._all(sql, session, after, limit)]

    def reply(self, key: str) -> tuple[str, dict[str, Any]] | None:
        row = self._one("SELECT digest, answer FROM replies WHERE key = ?", key)
        return (row[0], json.loads(row[1])) if row else None

    def commit(self, change: Change) -> None:
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
            self._write(change)
            self._cursor.execute("COMMIT")
            self._remembered.keep(change.records)
            self._ends = (change.position + len(change.events), change.ordinal)
        except BaseException as error:
            self._give_up()
            if isinstance(error, sqlite3.Error):
                raise _translated(error) from error
            raise

    def _give_up(self) -> None:
        self._ends = None
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise _translated(error) from error

    def close(self) -> None:
        self._db.close()

    def _write(self, change: Change) -> None:
        if (found := self.position()) != change.position:
            raise PositionConflict(f"decided at {change.position}, the log is at {found}")
        places = range(change.position + 1, change.position + len(change.events) + 1)
        events = [*zip(places, change.streams, map(written, change.events), strict=True)]
        self._execute(_APPEND, events)
        self._write_records(change.records)
        self._execute(_COUNT, [(change.ordinal,)])
        if change.reply:
            key, digest, answer = change.reply
            self._execute(_REPLY, [(key, digest, written(answer))])

    def _write_records(self, records: list[Record]) -> None:
        """Writes new records as a whole, and of the others the text and what they are found by otherwise than before.

        What a record was told with seldom changes, and to replace a row is to take it out of every index and put it
        back.
        """
        known, told = self.records.get, []
        moved: dict[str, list[tuple[Any, ...]]] = {}
        anew: dict[str, list[tuple[Any, ...]]] = {}
        for record in records:
            key = record.kind, record.id
            body = written([record.state, record.scope, record.data])
            kept = known(key)
            if kept is None:
                sql, place = _placed(record)
                anew.setdefault(sql, []).append((*place, body))
            elif kept.stands_as(record):
                told.append((body, *key))
            else:
                sql, found_by = _moved(kept, record)
                moved.setdefault(sql, []).append((*found_by, body, *key))
        for sql, rows in ((_TELL, told), *moved.items()):
            if rows and self._execute(sql, rows) != len(rows):
                raise StoreError("a record is gone that was kept")
        for sql, rows in anew.items():
            self._execute(sql, rows)

    def _execute(self, sql: str, rows: list[tuple[Any, ...]]) -> int:
        """Runs a statement once per row; how many rows of the file that concerned."""
        return self._cursor.executemany(sql, rows).rowcount

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        try:
            return self._cursor.execute(sql, values).fetchone()
        except sqlite3.Error as error:
            raise _translated(error) from error

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise _translated(error) from error


_SELECT = "kind, id, ordinal, open, session_id, thread_id, body"
_LOAD = f"SELECT {_SELECT} FROM records WHERE kind = ? AND id = ?"
_APPEND = "INSERT INTO events (position, stream, body) VALUES (?, ?, ?)"
_COUNT = "INSERT OR REPLACE INTO counters VALUES ('ordinal', ?)"
_REPLY = "INSERT INTO replies VALUES (?, ?, ?)"


@functools.lru_cache(maxsize=1024)
def _asking(names: tuple[str, ...], is_open: bool | None) -> str:
    """The query for the records of a kind that were told with the ids of these names."""
    tests = "".join(f" AND {name} = ?" for name in names)
    # Written out, so that the index of open records can be used.
    tests += "" if is_open is None else f" AND open = {int(is_open)}"
    # Without statistics SQLite would rather read all records of the kind, so the narrowest index is named.
    index = f"by_{max(names, key=_COLUMNS.index)}" if names else "open_records" if is_open else ""
    index = f" INDEXED BY {index}" if index else ""
    return f"SELECT {_SELECT} FROM records{index} WHERE kind = ?{tests} ORDER BY ordinal"


def _moved(kept: Record, record: Record) -> tuple[str, list[str | int | None]]:
    """The statement that writes what a record is found by otherwise than before, and its text; and the former."""
    before, after = kept.scope, record.scope
    found_by: dict[str, str | int | None] = {}
    if before is not after:
        found_by = {name: after.get(name) for name in {**before, **after} if before.get(name) != after.get(name)}
        found_by = {name: identity for name, identity in found_by.items() if name in LINKS}
    if kept.session != record.session:
        found_by["session_id"] = record.session
    if kept.thread != record.thread:
        found_by["thread_id"] = record.thread
    if kept.open != record.open:
        found_by["open"] = int(record.open)
    return _updating(tuple(found_by)), [*found_by.values()]


@functools.lru_cache(maxsize=1024)
def _updating(names: tuple[str, ...]) -> str:
    return f"UPDATE records SET {''.join(f'{name} = ?, ' for name in names)}body = ? WHERE kind = ? AND id = ?"


_TELL = _updating(())


def _placed(record: Record) -> tuple[str, tuple[Any, ...]]:
    """The statement that writes a record as a whole, and where it stands; to bind what is not there costs most."""
    scope = record.scope
    sql, names = _upserting(record.session is not None, record.thread is not None, tuple(scope))
    held = [one for one in (record.session, record.thread) if one is not None]
    return sql, (record.kind, record.id, record.ordinal, int(record.open), *held, *[scope[name] for name in names])


@functools.lru_cache(maxsize=1024)
def _upserting(in_session: bool, in_thread: bool, told: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The statement for a record that was told with some ids, and which of them are columns."""
    names = tuple(name for name in LINKS if name in told)
    held = [name for name, is_there in (("session_id", in_session), ("thread_id", in_thread)) if is_there]
    columns = ("kind", "id", "ordinal", "open", *held, *names, "body")
    return f"INSERT OR REPLACE INTO records ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", names


def _record(row: tuple[Any, ...]) -> Record:
    kind, identity, ordinal, is_open, session, thread, body = row
    state, scope, data = json.loads(body)
    return Record(kind, identity, ordinal, session, thread, state, bool(is_open), scope, data)


def _translated(error: sqlite3.Error) -> StoreError:
    """What SQLite says as what a store promises."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreLocked("another writer holds the store")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return StoreFull("the disk took no more")
    return StoreError("the store failed")
