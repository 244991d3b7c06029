"""What the other commands take for four times as much: `python -m tests.bench.commands [EVENTS]`.

Every command is given inputs of one, two and six sizes, and told is how much longer the last four take than the first.
About four is as it has to be. Times are those of the processor.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.bench.limits import ROUNDS, faulty, ran, slow_inputs, write
from tests.bench.talk import lines

Words = tuple[str, ...]
CLI, RUNTIME = "validator.cli", "reference_runtime.__main__"
_REASON = "known so far"


def _event(number: int) -> bytes:
    head = {"type": "runtime.warning", "event_id": f"e{number}", "timestamp": "2026-05-08T09:00:00Z"}
    told = {"session_id": "s", "sequence": number, "payload": {"code": "slow", "message": "It is slow."}}
    return json.dumps({**head, **told}).encode() + b"\n"


def _differing(others: Callable[[int], Iterable[int]]) -> Callable[[int], Words]:
    def words(events: int) -> Words:
        one, other = write("one", map(_event, range(events))), write("other", map(_event, others(events)))
        return "diff", str(one), str(other)

    return words


def _suppressed(events: int) -> Words:
    config = Path(write("some", faulty(events, 100))).with_name("suppress.toml")
    entries = (f'[[suppress]]\nfingerprint = "{number:016x}"\nreason = "{_REASON}"\n' for number in range(events // 20))
    config.write_text("\n".join(entries), encoding="utf-8")
    return "check", "--jobs", "1", "--config", str(config), str(config.with_name("some.ndjson"))


def _accepted(events: int) -> Words:
    baseline = Path(write("some", faulty(events, 100))).with_name("baseline.json")
    entry = {"rule": "TRM001", "requirement": "TASK-8", "count": 1, "reason": _REASON}
    entries = [{"fingerprint": f"{number:016x}", **entry} for number in range(events // 20)]
    baseline.write_text(json.dumps({"baseline": "1", "entries": entries}, indent=2), encoding="utf-8")
    return "check", "--jobs", "1", "--baseline", str(baseline), str(baseline.with_name("some.ndjson"))


def _told(told: Callable[[int], Iterable[bytes]], *command: str) -> Callable[[int], Words]:
    return lambda events: (*command, str(write("told", told(events))))


def _tasks(events: int) -> Iterable[bytes]:
    return slow_inputs(events)["tasks within tasks"]()


CASES: dict[str, tuple[str, Callable[[int], Words]]] = {
    "diff, every other event lost": (CLI, _differing(lambda events: range(0, events, 2))),
    "diff, all in pairs the other way round": (CLI, _differing(lambda events: (n ^ 1 for n in range(events)))),
    "check with suppressions": (CLI, _suppressed),
    "check with a baseline": (CLI, _accepted),
    "follow": (CLI, _told(lines, "follow", "--idle", "0")),
    "follow, all faulty": (CLI, _told(lambda events: faulty(events // 4, 1), "follow", "--idle", "0")),
    "replay": (CLI, _told(lines, "replay")),
    "replay of the runtime": (RUNTIME, _told(lines, "replay")),
    "replay of the runtime, tasks within tasks": (RUNTIME, _told(_tasks, "replay")),
}


def growth(module: str, words: Callable[[int], Words], events: int) -> float:
    """How much longer four times the input takes, what comes once taken off."""
    one, two, six = (_spent(module, words(events * times)) for times in (1, 2, 6))
    return (six - two) / (two - one)


def _spent(module: str, words: Words) -> float:
    return min(ran(module, *words)[0] for _ in range(ROUNDS))


def main(events: int) -> None:
    for name, (module, words) in CASES.items():
        print(f"{growth(module, words, events):6.2f}  {name}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
