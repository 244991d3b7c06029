"""Plants a seeded sample of code faults and counts those that no check notices; writes RESULTS.md.

What is known of the sample from runs before is kept in `build/`: `--again` tries only what is new, has changed or was
left alive and is not listed as equivalent.
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.mutation import checks, results
from tests.mutation.mutants import Mutant, sample
from tests.mutation.planted import resting_on
from tests.mutation.trial import noticed

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT / "build" / "mutation.json"
"""What became of mutants, under a sum of their whole source."""
NOTICED = 7
WARM = 15
"""Every so many-th stream is judged before the first trial, so that no trial pays for what it works out."""


def trials(mutants: list[Mutant], jobs: int, seconds: int) -> Iterator[tuple[Mutant, bool]]:
    """Runs each mutant in a fork, `jobs` at a time; a process that hangs or dies has noticed too."""
    streams = checks.all_streams()
    for stream in streams[::WARM]:
        amiss = checks.told_otherwise(stream) or checks.varied_otherwise(stream)
        assert amiss is None, f"{stream.name} {amiss} without a fault"
    resting_on("", ROOT)
    waiting, running = list(reversed(mutants)), {}
    proof = _proof({name for mutant in mutants for name in checks.tests_of(mutant.path)})
    while waiting or running or proof:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            child = os.fork()
            if child == 0:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
                os._exit(NOTICED if _tried(mutant, streams) else 0)
            running[child] = mutant
        child, status = os.wait()
        survived = os.waitstatus_to_exitcode(status) == 0
        if child == proof:
            assert survived, "a test fails without a fault"
            proof = None
        else:
            yield running.pop(child), survived


def _proof(tests: set[str]) -> int:
    """A process beside the trials that makes sure that the tests pass as long as no fault is planted."""
    child = os.fork()
    if child == 0:
        os._exit(NOTICED if checks.run_tests(tests) else 0)
    return child


def _tried(mutant: Mutant, streams: list[checks.Stream]) -> str | None:
    reason = noticed(ROOT, mutant.path, mutant.source(ROOT), streams, checks.tests_of(mutant.path))
    with KNOWN.with_suffix(".log").open("a", encoding="utf-8") as log:
        log.write(f"{mutant.path}:{mutant.line(ROOT)} {mutant.fault} #{mutant.occurrence}: {reason}\n")
    return reason


def main() -> None:
    options = _options()
    os.chdir(ROOT)
    os.environ["HYPOTHESIS_PROFILE"] = "ci"
    compileall.compile_dir(ROOT / "validator", quiet=2)  # a trial loads again what rests on its fault
    known = json.loads(KNOWN.read_text("utf-8")) if options.again and KNOWN.exists() else {}
    chosen = [mutant for mutant in sample(ROOT, options.size, options.seed) if options.only in mutant.path]
    reviewed = results.reasons(ROOT, [mutant for mutant in chosen if known.get(_sum(mutant))])
    open_yet = [mutant for mutant in chosen if known.get(_sum(mutant), True) and mutant not in reviewed]
    start = time.monotonic()
    KNOWN.parent.mkdir(exist_ok=True)
    for number, (mutant, survived) in enumerate(trials(open_yet, options.jobs, options.seconds), 1):
        known[_sum(mutant)] = survived
        KNOWN.write_text(json.dumps(known), "utf-8")
        mark = "ALIVE " if survived else "killed"
        print(f"{number}/{len(open_yet)} {mark} {mutant.path}:{mutant.line(ROOT)} {mutant.fault}", flush=True)
    outcome = {mutant: known[_sum(mutant)] for mutant in chosen}
    print(f"{sum(outcome.values())} of {len(chosen)} alive after {time.monotonic() - start:.0f} s")
    if not options.only:
        results.write(ROOT, outcome, options.seed)


def _sum(mutant: Mutant) -> str:
    return hashlib.sha256(f"{mutant.path}\n{mutant.source(ROOT)}".encode()).hexdigest()[:32]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=int, default=120, help="of CPU, after which a trial counts as noticed")
    parser.add_argument("--only", default="", help="part of a path; other files are left alone")
    parser.add_argument("--again", action="store_true", help="try only what is not settled by the run before")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
