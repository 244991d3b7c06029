"""Measures the whole verdict beside parsing alone, on one file in one run; a ratio, not a promise.

Times are of the processor, so that other programs on the machine do not count, and without loading the contract.

python -m tests.bench.bench [EVENTS]
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.stream import lines
from validator.engine import Options, validate
from validator.report import Report


def write(path: Path, events: int) -> int:
    """Writes the stream; returns how many events it holds."""
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        return sum(file.write(line) > 0 for line in lines(events))


def parse(path: Path) -> None:
    with path.open("rb") as stream:
        for line in stream:
            json.loads(line)


def judge(path: Path) -> Report:
    with path.open("rb") as stream:
        return validate(stream, path.name, Options(protocol="agent-runtime"))


def timed(task: Callable[[Path], object], path: Path) -> tuple[float, object]:
    start = time.process_time()
    result = task(path)
    return time.process_time() - start, result


def main(events: int) -> int:
    """Prints both speeds and their ratio; 1 when the stream is not conformant, because then nothing was measured."""
    path = Path("build") / "bench.ndjson"
    written = write(path, events)
    validate(io.BytesIO(next(lines(1))), "first.ndjson", Options(protocol="agent-runtime"))
    print(f"{written} events, {path.stat().st_size / 1e6:.1f} MB")
    (alone, _), (whole, report) = timed(parse, path), timed(judge, path)
    print(f"parse only     {written / alone:>10.0f} events/s")
    print(f"whole verdict  {written / whole:>10.0f} events/s, {whole / alone:.1f} times parse only")
    assert isinstance(report, Report)
    print(f"{report.verdict}, {len(report.findings)} findings")
    return int(bool(report.findings) or report.verdict != "conformant")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
