"""Shows what a longer stream of closed work costs in memory, per event.

python -m tests.bench.memory [EVENTS [RECENT [PROTOCOL]]]: with RECENT, what is over is remembered whole for that many
lines only, so that a short stream shows what a long one costs. PROTOCOL tells stories of that protocol again and again,
with ids of their own; without it the generated stream of the core is read.

One validator reads a stream to a quarter and then to its end. What it holds at the end and did not hold at the quarter
is listed by the lines of code that asked for it, so a ledger that keeps what is over shows by name.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tests.bench.retold import retellings
from tests.bench.stream import lines
from validator.engine import Options, Validator
from validator.replay import world
from validator.replay.readmodels.agent_runtime import recall
from validator.rules.redaction import redacted_here_plain_there
from validator.rules.snapshot import old_fact_told_anew

LONGER = 4
MOST = 30
_ROOT = str(Path(__file__).parents[2]) + "/"


def growth(events: int, protocol: str = "") -> tuple[int, list[tuple[int, str]]]:
    """Events read after the quarter, and the bytes that each place in the code holds more since then."""
    told = list(islice(retellings(protocol), events) if protocol else lines(events))
    quarter = len(told) // LONGER
    judge = Validator("bench.ndjson", Options(protocol=protocol or "agent-runtime"))
    tracemalloc.start()
    try:
        early, late = list(_snapshots(judge, told[:quarter], told[quarter:]))
    finally:
        tracemalloc.stop()
    return len(told) - quarter, [
        (entry.size_diff, str(entry.traceback[0]).removeprefix(_ROOT)) for entry in late.compare_to(early, "lineno")
    ]


def _snapshots(judge: Validator, *parts: list[bytes]) -> Iterator[tracemalloc.Snapshot]:
    for part in parts:
        for line in part:
            judge.feed(line)
        gc.collect()
        yield tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, _ROOT + "validator/*")])


def main(events: int, recent: int = world.RECENT, protocol: str = "") -> None:
    world.RECENT = recall.TAKEN = recent
    old_fact_told_anew.KEPT = redacted_here_plain_there._STEPS_KEPT = min(recent, 500)
    further, places = growth(events, protocol)
    print(f"{sum(size for size, _ in places) / further:.1f} bytes for each of {further} further events")
    for size, place in sorted(places, reverse=True)[:MOST]:
        print(f"{size / further:9.1f}  {place}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3] or ("100000",)), *sys.argv[3:])
