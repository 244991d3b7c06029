"""A durable command of the reference runtime beside bare SQLite that commits the same rows, in turns in one run.

    python -m tests.bench.durable [ROUNDS]

The runtime validates, decides, stamps, projects and commits with `synchronous=FULL`; the bare database is given the
rows of that very commit, ready to be bound, and commits them in one transaction with the same setting. Only the ratio
counts.

The same rows are not the same work. Of a record that stands where it stood in the indexes the runtime writes the text
alone, while a database that knows nothing but the rows takes each out of every index and puts it back. So a second one
is measured, which is given the very statements that the runtime came to, and has neither to find them out nor to do
more than they ask.

Where the time of a command goes, by samples with the wait for the disk taken out: 38 % into statements, 23 % into
taking events in (7 of them to see which read models changed, 5 into the state tables), 5 % into schemas, 7 % into rows
and keeping records, 6 % into stamping and hiding, 6 % into the answer, what is over into decisions and copies of
records. Some three hundred small calls of Python are left, none of them large, and they run up to twice as long as in a
loop of their own: after the wait for the disk the caches are cold, so what counts is how much is touched, and not only
how much is done. Reading and writing in one transaction, which locks the file once instead of three times, was tried:
it saves 1 to 2 %, and a command that is refused would have to wait for a writer. Moments that were accepted before were
remembered, and the fields of an answer taken out in one call; neither saves as much as 1 %. What is left to try is
taking events in by code that is generated per type of event from the tables, as it is from the schemas.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from reference_runtime.facts.record import LINKS, Record
from reference_runtime.log import sqlite
from reference_runtime.log.base import Change
from reference_runtime.log.body import written
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from tests.runtime.machine import SCRIPTS

LIMIT = 2.0
PARTS = [{"kind": "text", "text": "hi"}]


Written = list[tuple[str, list[tuple[Any, ...]]]]


class Recording(sqlite.SqliteStore):
    """A store that remembers its last commit, and the statements that it came to."""

    def __init__(self, path: Path):
        super().__init__(path)
        self.change: Change | None = None
        self.statements: Written = []

    def commit(self, change: Change) -> None:
        self.change = change
        super().commit(change)

    def _execute(self, sql: str, rows: list[tuple[Any, ...]]) -> int:
        self.statements.append((sql, rows))
        return super()._execute(sql, rows)

    def rows(self) -> Written:
        """Everything that the last commit wrote, each record as a whole."""
        first, *others = [one for one in self.statements if "records" not in one[0]]
        return [first, (_UPSERT, [*map(_row, self.change.records)]), *others]


_COLUMNS = ("kind", "id", "ordinal", "open", "session_id", "thread_id", *LINKS, "body")
_UPSERT = f"INSERT OR REPLACE INTO records ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"


def _row(record: Record) -> tuple[Any, ...]:
    """A record as a row, ready to be bound."""
    place = (record.kind, record.id, record.ordinal, int(record.open), record.session, record.thread)
    return (*place, *map(record.scope.get, LINKS), written([record.state, record.scope, record.data]))


class Bare:
    """Nothing but the rows, in a file of its own."""

    def __init__(self, path: Path):
        sqlite.SqliteStore(path).close()
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")

    def commit(self, written: Written) -> float:
        begun = time.perf_counter()
        self._db.execute("BEGIN IMMEDIATE")
        for sql, rows in written:
            self._db.executemany(sql, rows)
        self._db.execute("COMMIT")
        return time.perf_counter() - begun


def commands(number: int) -> list[tuple[str, dict[str, Any]]]:
    """One life of a task."""
    name = f"task_{number}"
    return [
        ("create_task", {"session_id": "s", "thread_id": "t", "task_id": name, "objective": "Measure."}),
        ("start_task", {"task_id": name}),
        ("append_task_progress", {"task_id": name, "progress": {"percent": 50}}),
        ("complete_task", {"task_id": name}),
    ]


def measure(rounds: int) -> dict[str, list[tuple[float, ...]]]:
    """Per command and round the seconds of the runtime, and of bare databases given the rows and the statements."""
    spent: dict[str, list[tuple[float, ...]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Recording(Path(folder) / "runtime.db")
        given_rows, given_statements = Bare(Path(folder) / "rows.db"), Bare(Path(folder) / "statements.db")
        runtime = Runtime(store, Settings(scripts=SCRIPTS))
        turn = {"session_id": "s", "thread_id": "t", "turn_id": "u", "input_parts": PARTS}
        assert runtime.handle("submit_turn", turn)["outcome"] == "accepted"
        given_rows.commit(store.rows())
        given_statements.commit(store.statements)
        for number in range(rounds):
            for command, request in commands(number):
                store.statements = []
                begun = time.perf_counter()
                answer = runtime.handle(command, request)
                ours = time.perf_counter() - begun
                assert answer["outcome"] == "accepted", answer
                took = (ours, given_rows.commit(store.rows()), given_statements.commit(store.statements))
                spent.setdefault(command, []).append(took)
        store.close()
    return spent


def main(rounds: int) -> int:
    spent = measure(rounds)
    for name, pick in (("best", min), ("median", statistics.median)):
        picked = {command: tuple(map(pick, zip(*took, strict=True))) for command, took in spent.items()}
        for command, times in picked.items():
            print(f"{name:7} {command:22} {_beside(*times)}")
        print(f"{name:7} {'all together':22} {_beside(*map(sum, zip(*picked.values(), strict=True)))}")
    print(f"meant to be at most x {LIMIT:.2f} of the same rows")
    return 0


def _beside(ours: float, rows: float, statements: float) -> str:
    return (
        f"{ours * 1e3:7.2f} ms   the same rows {rows * 1e3:5.2f} ms   x {ours / rows:.2f}"
        f"   the same statements {statements * 1e3:5.2f} ms   x {ours / statements:.2f}"
    )


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))
