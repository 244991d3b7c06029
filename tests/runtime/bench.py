"""Cost per command against the length of the log: two stores side by side, one with ten times the events of the other.

Run it with `python -m tests.runtime.bench`. The same commands go to both in turns, so whatever else the machine does
hits both alike. The claim is at most 1.2 times the time for ten times the log.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.work.engine import Worker
from tests.runtime.machine import SCRIPTS

PARTS = [{"kind": "text", "text": "hi"}]
LIMIT = 1.2


def grown(path: Path, rounds: int) -> Runtime:
    """A runtime whose log holds so many rounds of turns, tasks and artifacts."""
    runtime = Runtime(SqliteStore(path), Settings(scripts=SCRIPTS))
    # Durability is not what is measured here, and growing would take minutes with it.
    runtime.store._db.execute("PRAGMA synchronous=OFF")
    for number in range(rounds):
        one_round(runtime, f"old_{number}")
    return runtime


def one_round(runtime: Runtime, name: str) -> dict[str, float]:
    """One of each command that is measured, with the time it took."""
    times: dict[str, float] = {}

    def timed(command: str, request: dict) -> None:
        begun = time.perf_counter()
        answer = runtime.handle(command, request)
        times[command] = time.perf_counter() - begun
        assert answer["outcome"] == "accepted", answer

    timed("submit_turn", {"session_id": "s", "thread_id": "t", "turn_id": name, "input_parts": PARTS})
    begun = time.perf_counter()
    steps = Worker(runtime).run()
    times["work (per step)"] = (time.perf_counter() - begun) / steps
    ids = {"session_id": "s", "thread_id": "t", "turn_id": name, "artifact_id": name}
    runtime.fact("artifact.changed", ids, {"change": "created", "version_id": "1", "read_ref": "x://1"})
    timed("create_task", {"session_id": "s", "thread_id": "t", "task_id": name, "objective": "o"})
    timed("start_task", {"task_id": name})
    timed("append_task_progress", {"task_id": name, "progress": {"percent": 1}})
    timed("complete_task", {"task_id": name})
    return times


def measure(short: int = 12, rounds: int = 25) -> dict[str, tuple[float, float]]:
    """Median seconds per command on the short and on the long log."""
    with tempfile.TemporaryDirectory() as folder:
        pair = [grown(Path(folder) / "short.db", short), grown(Path(folder) / "long.db", short * 10)]
        lengths = [runtime.store.position() for runtime in pair]
        print(f"events: {lengths[0]} and {lengths[1]}")
        found: list[dict[str, list[float]]] = [{}, {}]
        for number in range(rounds):
            for place in (0, 1) if number % 2 else (1, 0):
                for command, seconds in one_round(pair[place], f"new_{number}").items():
                    found[place].setdefault(command, []).append(seconds)
        for runtime in pair:
            runtime.store.close()
    return {name: (statistics.median(found[0][name]), statistics.median(found[1][name])) for name in found[0]}


def main() -> int:
    worst = 0.0
    for command, (short, long) in measure().items():
        worst = max(worst, long / short)
        print(f"{command:22} {short * 1e3:7.2f} ms {long * 1e3:7.2f} ms   x {long / short:.2f}")
    print(f"worst ratio {worst:.2f}, allowed {LIMIT}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
