"""A durable command of the reference runtime beside bare SQLite that commits the same rows, in turns in one run.

    python -m tests.bench.durable [ROUNDS]

The runtime validates, decides, stamps, projects and commits with `synchronous=FULL`; the bare database is given the
rows of that very commit, ready to be bound, and commits them in one transaction with the same setting. Only the ratio
counts.

The same rows are not the same work. Of a record that stands where it stood in the indexes the runtime writes the text
alone, while the bare database takes the row out of every index and puts it back, which costs it twice as much. Were it
given the runtime's own statements, it would be faster by that, and the ratio 2.0 to 2.3.

Where the time of a command goes, by samples with the wait for the disk taken out: 36 % into statements, 24 % into
taking events in (9 of them to see which read models changed, 5 into the state tables), 7 % into schemas, 7 % into rows
and keeping records, 6 % into stamping and hiding, 6 % into the answer, what is over into decisions and copies of
records. Some four hundred small calls of Python are left, none of them large, and they run up to twice as long as in a
loop of their own. Reading and writing in one transaction, which locks the file once instead of three times, was tried:
it saves 1 to 2 %, and a command that is refused would have to wait for a writer. Acceptors that are made per set of
keys were tried as well, and save as little. What is left to try is taking events in by code that is generated per type
of event from the tables, as it is from the schemas.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from reference_runtime.log import sqlite
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from tests.runtime.machine import SCRIPTS

LIMIT = 2.0
PARTS = [{"kind": "text", "text": "hi"}]


class Recording(sqlite.SqliteStore):
    """A store that remembers the rows of its last commit."""

    def __init__(self, path: Path):
        super().__init__(path)
        self.written: list[tuple[str, list[tuple[Any, ...]]]] = []

    def _insert(self, sql: str, rows: list[tuple[Any, ...]]) -> None:
        self.written.append((sql, rows))
        super()._insert(sql, rows)


class Bare:
    """Nothing but the rows, in a file of its own."""

    def __init__(self, path: Path):
        sqlite.SqliteStore(path).close()
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")

    def commit(self, written: list[tuple[str, list[tuple[Any, ...]]]]) -> float:
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


def measure(rounds: int) -> dict[str, tuple[float, float]]:
    """Per command the best seconds of the runtime and of the bare database."""
    best: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        store, bare = Recording(Path(folder) / "runtime.db"), Bare(Path(folder) / "bare.db")
        runtime = Runtime(store, Settings(scripts=SCRIPTS))
        turn = {"session_id": "s", "thread_id": "t", "turn_id": "u", "input_parts": PARTS}
        assert runtime.handle("submit_turn", turn)["outcome"] == "accepted"
        bare.commit(store.written)
        for number in range(rounds):
            for command, request in commands(number):
                store.written = []
                begun = time.perf_counter()
                answer = runtime.handle(command, request)
                ours = time.perf_counter() - begun
                assert answer["outcome"] == "accepted", answer
                theirs = bare.commit(store.written)
                known = best.get(command, (ours, theirs))
                best[command] = (min(ours, known[0]), min(theirs, known[1]))
        store.close()
    return best


def main(rounds: int) -> int:
    best = measure(rounds)
    for command, (ours, bare) in best.items():
        print(f"{command:22} {ours * 1e3:7.2f} ms, bare {bare * 1e3:7.2f} ms   x {ours / bare:.2f}")
    whole = sum(ours for ours, _ in best.values()) / sum(bare for _, bare in best.values())
    print(f"all together x {whole:.2f}, meant to be at most {LIMIT}")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))
