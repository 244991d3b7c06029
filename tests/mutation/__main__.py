"""Plants a seeded sample of code faults and counts those that no test notices; writes RESULTS.md."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.mutation.mutants import Mutant, every, sample
from tests.mutation.trial import noticed

ROOT = Path(__file__).resolve().parents[2]
NOTICED = 7
RESULTS = Path(__file__).with_name("RESULTS.md")


def trials(mutants: list[Mutant], jobs: int, seconds: int, whole: bool) -> Iterator[tuple[Mutant, bool]]:
    """Runs each mutant in a fork, `jobs` at a time; a process that hangs or dies has noticed too."""
    waiting, running = list(reversed(mutants)), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            child = os.fork()
            if child == 0:
                signal.alarm(seconds)
                os._exit(NOTICED if noticed(ROOT, mutant.path, mutant.source(ROOT), whole) else 0)
            running[child] = mutant
        child, status = os.wait()
        yield running.pop(child), os.waitstatus_to_exitcode(status) == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=int, default=600, help="after which a trial counts as noticed")
    parser.add_argument("--only", default="", help="part of a path; other files are left alone")
    parser.add_argument("--streams", action="store_true", help="ask the rule streams alone: quick, and an upper bound")
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["HYPOTHESIS_PROFILE"] = "ci"
    chosen = [mutant for mutant in sample(ROOT, options.size, options.seed) if options.only in mutant.path]
    start = time.monotonic()
    alive: list[Mutant] = []
    for number, (mutant, survived) in enumerate(trials(chosen, options.jobs, options.seconds, not options.streams), 1):
        if survived:
            alive.append(mutant)
        mark = "ALIVE " if survived else "killed"
        print(f"{number}/{len(chosen)} {mark} {mutant.path}:{mutant.line(ROOT)} {mutant.operator}", flush=True)
    alive.sort(key=lambda mutant: (mutant.path, mutant.line(ROOT)))
    print(f"{len(alive)} of {len(chosen)} alive after {time.monotonic() - start:.0f} s")
    if not options.only and not options.streams:
        RESULTS.write_text(_page(chosen, alive, options.seed), "utf-8")


def _page(chosen: list[Mutant], alive: list[Mutant], seed: int) -> str:
    total = sum(1 for _ in every(ROOT))
    share = 100 * len(alive) / len(chosen)
    rows = "".join(
        f"| `{mutant.path}` | {mutant.line(ROOT)} | {mutant.operator.removeprefix('core/')} |\n" for mutant in alive
    )
    return (
        "# Planted faults\n\nWritten by `make mutants`; a figure of one run, which `spec check` does not compare.\n\n"
        f"Of {total} places where a small fault can be planted in `validator/{{protocol,replay,rules}}`, a sample of "
        f"{len(chosen)} (seed {seed}) was tried: {len(alive)} ({share:.1f} %) went unnoticed.\n\n"
        f"| file | line | fault |\n|---|---|---|\n{rows}"
    )


if __name__ == "__main__":
    sys.exit(main())
