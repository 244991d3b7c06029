"""Measures the whole verdict beside parsing alone, interleaved in one run; ratios, not promises.

    python -m tests.bench.bench [EVENTS]

The stream is made of the core's golden captures, told again and again in sessions of their own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from validator import resources
from validator.engine import Options, validate

_ROUNDS = 3


def generate(path: Path, events: int) -> int:
    """Writes about as many events as asked for; returns how many."""
    stories = sorted((resources.fixtures() / "agent-runtime" / "0.3" / "golden").glob("*.ndjson"))
    captures = [[json.loads(line) for line in story.read_text().splitlines()] for story in stories]
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for number in count():
            for story, capture in enumerate(captures):
                mark = f"{number}_{story}"
                for document in capture:
                    if "record" not in document:
                        file.write(json.dumps(_told_again(document, mark), separators=(",", ":")) + "\n")
                        written += 1
                if written >= events:
                    return written
    return written


def _told_again(event: dict, mark: str) -> dict:
    return {
        key: f"{value}_{mark}" if key.endswith("_id") and isinstance(value, str) else value
        for key, value in event.items()
    }


def _best(task: Callable[[], object], best: float) -> float:
    start = time.perf_counter()
    task()
    return min(best, time.perf_counter() - start)


def main(events: int) -> None:
    path = Path("build") / "bench.ndjson"
    path.parent.mkdir(exist_ok=True)
    written = generate(path, events)
    data = path.read_bytes()

    def parse() -> None:
        for line in data.splitlines():
            json.loads(line)

    def verdict() -> None:
        with path.open("rb") as stream:
            validate(stream, path.name, Options(protocol="agent-runtime", expect="prefix"))

    times = {"parse only (json)": float("inf"), "whole verdict": float("inf")}
    for _ in range(_ROUNDS):
        times["parse only (json)"] = _best(parse, times["parse only (json)"])
        times["whole verdict"] = _best(verdict, times["whole verdict"])
    base = times["parse only (json)"]
    print(f"{written} events, {len(data) / 1e6:.1f} MB, best of {_ROUNDS}")
    for name, seconds in times.items():
        print(f"{name:<20} {written / seconds:>10.0f} events/s  {seconds / base:>7.1f} x parse only")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
