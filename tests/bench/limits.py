"""How a verdict's cost changes with what is judged: `python -m tests.bench.limits [EVENTS [LONG]]`.

Every case is a process of its own; times are those of the processor, except where two processes share the rules: there
it is the clock. What a check of one event takes is taken off. Cases of a group are run in turn, best of several, and
only the ratios are written to `LIMITS.md`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.bench.crowds import CROWDS
from tests.bench.retold import retellings
from tests.bench.talk import lines
from tests.bench.writings import lifecycles, writings

ROUNDS = 3
BUILD = Path("build") / "bench"
RESULTS = Path(__file__).with_name("LIMITS.md")
_DUPLICATES = """
import resource, sys
from validator.replay.seen import SeenEvents, short
used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before, table = used(), SeenEvents()
for number in range(int(sys.argv[1])):
    table.meet(short(f"e{number}"), number, number)
print(used() - before)
"""
_DECIDED = {
    "type": "permission.evaluated",
    "tool_call_id": "c",
    "payload": {"decision": "allow", "decision_source": "rule", "decision_reason": "So.", "rule_refs": ["rule://r"]},
}
_HEAD = {"type": "model.delta", "event_id": "e", "timestamp": "2026-05-08T09:00:00Z", "session_id": "s"}


@dataclass(slots=True)
class Spent:
    """The best of several runs of one case."""

    events: int
    size: int
    processor: float = float("inf")
    clock: float = float("inf")
    memory: int = 0

    def take(self, other: tuple[float, float, int]) -> None:
        self.processor, self.clock = min(self.processor, other[0]), min(self.clock, other[1])
        self.memory = max(self.memory, other[2])

    @property
    def per_event(self) -> float:
        return self.processor / self.events

    @property
    def per_byte(self) -> float:
        return self.processor / self.size


_KEY = "-----BEGIN PRIV" + "ATE KEY-----"


def spend(path: Path, jobs: int) -> tuple[float, float, int]:
    """Seconds of the processor, seconds, and kilobytes at most, that a check of a file takes."""
    return ran("validator.cli", "check", "--jobs", str(jobs), str(path))


def ran(module: str, *words: str) -> tuple[float, float, int]:
    """The same of any command, whose `main` a module holds."""
    code = f"import sys; from {module} import main; sys.exit(main())"
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    spent = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 3):
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, spent, used.ru_maxrss


def measured(cases: dict[str, tuple[Path, int]], rounds: int = ROUNDS) -> dict[str, Spent]:
    """Every case, in turn, as often as asked for."""
    found = {name: Spent(_count(path), path.stat().st_size) for name, (path, _) in cases.items()}
    start, alone = Spent(1, 1), write("start", islice(lines(1), 1))
    for _ in range(rounds):
        start.take(spend(alone, 1))
        for name, (path, jobs) in cases.items():
            found[name].take(spend(path, jobs))
    for spent in found.values():
        spent.processor -= start.processor
        spent.clock -= start.clock
    return found


def _count(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def write(name: str, told: Iterable[bytes]) -> Path:
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / f"{name}.ndjson"
    with path.open("wb") as file:
        file.writelines(told)
    return path


def faulty(events: int, every: int) -> Iterator[bytes]:
    """The stream with a fault in every so-manieth event: a leak, a missing id, a word that is no status."""
    for number, line in enumerate(lines(events)):
        event = json.loads(line)
        if number % every == every - 1:
            turn = number // every % 3
            if turn == 0:
                event["payload"] = {**event.get("payload", {}), "note": "/home/alice/notes.txt"}
            elif turn == 1:
                del event["event_id"]
            else:
                event["status"] = 7
        yield json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _one(number: int, **more: object) -> bytes:
    event = {**_HEAD, "event_id": f"e{number}", "sequence": number, **more}
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def _warning(number: int, beside: object) -> bytes:
    return _one(number, type="runtime.warning", payload={"code": "slow", "message": "It is slow."}, acme=beside)


def _turn() -> Iterator[bytes]:
    ids = {"thread_id": "h", "turn_id": "t"}
    yield _one(1, type="session.created")
    yield _one(2, type="thread.started", thread_id="h", payload={"title": "Main"})
    submitted = {"status": "accepted", "input_ref": "input://t", "source": "workspace"}
    yield _one(3, type="turn.submitted", payload=submitted, **ids)
    yield _one(4, type="turn.started", payload={"status": "preparing"}, **ids)


def _spoken(texts: Iterable[str]) -> Iterator[bytes]:
    yield from _turn()
    ids = {"thread_id": "h", "turn_id": "t", "model_request_id": "m"}
    yield _one(5, type="model.requested", payload={"provider": "acme", "model": "large"}, **ids)
    for number, text in enumerate(texts, 6):
        yield _one(number, payload={"delta": text}, **ids)


def _nested(depth: int) -> object:
    value: object = "end"
    for _ in range(depth):
        value = {"a": value}
    return value


def slow_inputs(events: int) -> dict[str, Callable[[], Iterator[bytes]]]:
    """Streams that were thought of to be slow, by what makes them so."""
    few, rare = range(1, max(events // 8, 2)), range(1, max(events // 1000, 2))
    long = "/usr/share/doc/a/b/c " * 400
    words = " ".join(f"w{number}/x" for number in range(1500))
    return {
        "deep nesting": lambda: (_warning(n, _nested(60)) for n in few),
        "long texts full of slashes": lambda: _spoken(f"{n} {long}" for n in few),
        "long texts of new words": lambda: _spoken(f"{n} {words}" for n in few),
        "texts that leak everywhere": lambda: _spoken(f"{n} " + "/home/al " * 4000 for n in rare),
        "keys without an end": lambda: _spoken(f"{n} " + _KEY * 800 for n in rare),
        "escapes everywhere": lambda: _spoken("\u00e9%2e\\n" * 400 + str(n) for n in few),
        "many keys": lambda: (_warning(n, {f"k{n}_{i}": i for i in range(50)}) for n in few),
        "many sessions": lambda: (_one(1, session_id=f"s{n}", type="session.created", event_id=f"x{n}") for n in few),
        "many open calls": lambda: _open_calls(events // 4),
        "tasks within tasks": lambda: _nested_tasks(events // 10),
        "commands that nobody answers": lambda: _unanswered(events // 10),
        "restarts beside open work": lambda: _restarts(events // 10),
        "short events of a vendor": lambda: _after_beginning(events // 4, type="acme.tick"),
        "one call decided about again": lambda: _after_beginning(events // 4, **_DECIDED),
        "every other event lost": lambda: (_warning(2 * n, 0) for n in range(1, events // 4)),
        "a queue of many turns": lambda: _queued(events // 4),
    }


def crowded(protocol: str, events: int) -> Iterator[tuple[str, float]]:
    """What streams of a dialect in which there is much of one thing cost per byte, beside stories of that dialect."""
    normal = {"stories": (write("stories", islice(retellings(protocol), events // 4)), 1)}
    for number, (name, story) in enumerate(CROWDS[protocol].items()):
        told = (json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in story(events // 8))
        found = measured({**normal, name: (write(f"crowd{number}", told), 1)}, 2)
        yield name, found[name].per_byte / found["stories"].per_byte


def _after_beginning(events: int, **more: object) -> Iterator[bytes]:
    yield _one(1, type="session.created")
    for number in range(2, events):
        yield _one(number, **more)


def _queued(events: int) -> Iterator[bytes]:
    yield _one(1, type="session.created")
    for number in range(2, events):
        payload = {"operation": "added", "queued_turn_id": f"q{number}", "queue": []}
        yield _one(number, type="queue.changed", queue_id="k", payload=payload)


def _nested_tasks(events: int) -> Iterator[bytes]:
    yield _one(1, type="session.created")
    for number in range(2, events):
        ids = {"task_id": f"k{number}", "parent_task_id": f"k{number - 1}"}
        yield _one(number, type="task.created", payload={"objective": "o"}, **ids)


def _unanswered(events: int) -> Iterator[bytes]:
    yield _one(1, type="session.created")
    tasks = [{"session_id": "s", "task_id": f"k{number}", "objective": "o"} for number in range(events // 2)]
    for number, request in enumerate(tasks):
        sent = {"record": "command", "command": "create_task", "command_id": f"c{number}", "request": request}
        yield json.dumps(sent).encode() + b"\n"
    for number in range(events // 2):
        yield _one(number + 2, type="task.created", task_id=f"k{number}", payload={"objective": "o"})


def _restarts(events: int) -> Iterator[bytes]:
    yield _one(1, type="session.created")
    for number in range(2, events // 2):
        yield _one(number, type="task.created", task_id=f"k{number}", payload={"objective": "o"})
    for _ in range(events // 2):
        yield b'{"record":"restart","timestamp":"2026-05-08T10:00:00Z"}\n'


def _open_calls(events: int) -> Iterator[bytes]:
    yield from _turn()
    for number in range(5, events):
        ids = {"thread_id": "h", "turn_id": "t", "step_id": f"p{number}", "tool_call_id": f"c{number}"}
        flags = {"is_read_only": True, "is_destructive": False, "is_concurrency_safe": True, "policy": "allowed"}
        payload = {"tool_name": "read", "args_ref": f"args://{number}", **flags}
        yield _one(number, type="tool.started", payload=payload, **ids)


def duplicates(events: int) -> int:
    """The kilobytes that a process needs for the tables of the duplicate check alone, at most."""
    done = subprocess.run([sys.executable, "-c", _DUPLICATES, str(events)], check=True, capture_output=True, text=True)
    return int(done.stdout)


def report(events: int, long: int) -> str:
    """The page."""
    plain, shorter = write("plain", lines(events)), write("tenth", lines(events // 10))
    group = measured(
        {
            "one process": (plain, 1),
            "two shares of the rules": (plain, 2),
            "a tenth of the events": (shorter, 1),
            "1 % faulty": (write("some", faulty(events, 100)), 1),
            "all faulty": (write("all", faulty(events // 10, 1)), 1),
        }
    )
    whole, shares = group["one process"], group["two shares of the rules"]
    rows = [
        ("two jobs on one file, clock, to one job", whole.clock / shares.clock, "at least 1.6"),
        ("1 % faulty, speed per event, to none", whole.per_event / group["1 % faulty"].per_event, "at least 0.5"),
        ("all faulty, speed per event, to none", whole.per_event / group["all faulty"].per_event, "it ends"),
        ("ten times the events, time", whole.processor / group["a tenth of the events"].processor, "at most 11"),
    ]
    others = {name: (write(f"other{place}", told), 1) for place, (name, told) in enumerate(writings(events).items())}
    for name, found in measured(others, 2).items():
        rows.append((f"written otherwise: {name}, time per event", found.per_event / whole.per_event, ""))
    more = {name: (write(f"more{place}", told), 1) for place, (name, told) in enumerate(lifecycles(events).items())}
    for name, found in measured(more, 2).items():
        rows.append((f"another protocol: {name}, time per event", found.per_event / whole.per_event, ""))
    slow: dict[str, Spent] = {}
    for number, (name, told) in enumerate(slow_inputs(events).items()):
        slow |= measured({name: (write(f"slow{number}", told()), 1)}, 2)
    for name, found in slow.items():
        rows.append((f"slow input: {name}, time per byte", found.per_byte / whole.per_byte, "at most 5"))
    for protocol in CROWDS:
        for name, ratio in crowded(protocol, events):
            rows.append((f"slow input of {protocol}: {name}, time per byte, to its own stories", ratio, "at most 5"))
    if long:
        memory = measured({"long": (write("long", lines(long)), 1), "short": (write("short", lines(long // 10)), 1)}, 1)
        grown = (memory["long"].memory - duplicates(long)) / (memory["short"].memory - duplicates(long // 10))
        told = f"memory at {long:,} events, to {long // 10:,}, the duplicate check aside"
        rows.append((told, grown, "at most 1.5"))
    table = "\n".join(f"| {name} | {ratio:.2f} | {meant} |" for name, ratio, meant in rows)
    head = f"# What changes the cost of a verdict\n\n{events:,} events of `tests/bench/talk.py`, best of {ROUNDS}, "
    told = "less what a start takes.\nWritten by `make bench`.\n\n| case | ratio | meant |\n|---|---:|---|\n"
    return f"{head}{told}{table}\n"


if __name__ == "__main__":
    wishes = [int(word) for word in sys.argv[1:]]
    page = report(wishes[0] if wishes else 100_000, wishes[1] if len(wishes) > 1 else 0)
    RESULTS.write_text(page, encoding="utf-8")
    print(page)
