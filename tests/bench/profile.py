"""Shows where the time of a verdict goes, stage by stage: `python -m tests.bench.profile [EVENTS]`.

A profiler slows small functions down more than large ones, so shares are a guide and no measurement.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
from pathlib import Path

from tests.bench.bench import write
from validator.engine import Options, validate

STAGES = {
    ("capture/ndjson.py", "_line"): "read and decode",
    ("capture/canonical.py", "read"): "casing",
    ("capture/lines.py", "line_errors"): "schema",
    ("session.py", "_shortfalls"): "profile",
    ("replay/order.py", "meet"): "duplicates",
    ("replay/order.py", "place"): "order",
    ("replay/fold.py", "apply"): "state tables",
    ("replay/world.py", "_teach"): "ledgers",
    ("asking.py", "ask"): "rules",
    ("scanner.py", "survey"): "leaks (within rules)",
}
MOST = 25


def profile(path: Path) -> pstats.Stats:
    """The profile of one verdict; a short one before it has loaded everything."""
    options = Options(protocol="agent-runtime", expect="prefix")
    head = path.with_suffix(".head.ndjson")
    head.write_bytes(b"".join(path.open("rb").readlines()[:500]))
    with head.open("rb") as stream:
        validate(stream, head.name, options)
    profiler = cProfile.Profile()
    with path.open("rb") as stream:
        profiler.enable()
        validate(stream, path.name, options)
        profiler.disable()
    return pstats.Stats(profiler)


def rows(stats: pstats.Stats) -> list[tuple[float, str]]:
    """Cumulative seconds per stage, rule and ledger, most first."""
    found = []
    for (file, _, name), (_, _, _, seconds, _) in stats.stats.items():
        short = file.partition("/validator/")[2]
        if (short, name) in STAGES:
            found.append((seconds, STAGES[short, name]))
        elif short.startswith("rules/") and name in {"check", "apply"}:
            found.append((seconds, f"  {'rule' if name == 'check' else 'ledger'} {short.removeprefix('rules/')}"))
    return sorted(found, reverse=True)


def main(events: int) -> None:
    path = Path("build") / "profile.ndjson"
    written = write(path, events)
    stats = profile(path)
    print(f"{written} events, {stats.total_tt / written * 1e6:.0f} us per event under the profiler")
    for seconds, name in rows(stats)[: MOST + len(STAGES)]:
        print(f"{seconds / stats.total_tt:7.1%} {seconds / written * 1e6:9.1f} us  {name}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
