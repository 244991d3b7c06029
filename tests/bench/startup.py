"""How long it takes to begin: help, version and a short capture beside an interpreter that imports click, in turns.

    python -m tests.bench.startup [ROUNDS]

Every case is a process of its own; the best of many counts, in processor time. The contract is kept in a folder of this
run (`RUNTIME_VALIDATE_CACHE`), as it is for a user from the second run on; `cold` begins without one.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench import stream
from tests.bench.bench import write

LIMITS = {"--help": 1.3, "--version": 1.3, "200 events": 2.0}
_MAIN = "from validator.cli import main; main()"


def cases(folder: Path) -> dict[str, list[str]]:
    capture = folder / "short.ndjson"
    write(capture, 200, stream.lines)
    ours = [sys.executable, "-c", _MAIN]
    return {
        "import click": [sys.executable, "-c", "import click"],
        "--help": [*ours, "--help"],
        "--version": [*ours, "--version"],
        "200 events": [*ours, str(capture)],
        "200 events, cold": [*ours, str(capture)],
    }


def seconds(command: list[str], cache: Path) -> float:
    """Processor time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, env={**environment, "RUNTIME_VALIDATE_CACHE": str(cache)})
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(rounds: int) -> None:
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = cases(folder)
        for _ in range(rounds + 1):  # the first round compiles modules and fills the cache
            for case, command in found.items():
                cache = folder / ("cold" if case.endswith("cold") else "warm")
                shutil.rmtree(folder / "cold", ignore_errors=True)
                best[case] = min(best.get(case, 1e9), seconds(command, cache))
    for case, least in best.items():
        wanted = f", meant to be at most {LIMITS[case]}" if case in LIMITS else ""
        print(f"{case:18} {least * 1e3:7.0f} ms   x {least / best['import click']:.2f}{wanted}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
