"""Measures the whole verdict beside its peers, interleaved in one run, best of several; ratios, not promises.

    python -m tests.bench.bench [EVENTS [ROUNDS]]

Every case is a process of its own, start included, and its time is that of the processor, so that other programs on
the machine count little; where two processes share the rules it is the clock. Ours is the command that users run. Peers
judge less: the schema alone, or nothing. What cannot be installed is named as absent. Beside parsing alone the verdict
is also measured in process, what both need being imported before.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench import threads
from tests.bench.surroundings import machine, versions
from tests.bench.talk import lines, one_by_one
from validator.protocol.bundle import bundle
from validator.protocol.protocol import load_protocol
from validator.protocol.schemas import BASE

ROUNDS = 3
SLOW = 2_000
ARRAY = 100
BUILD = Path("build") / "bench"
RESULTS = Path(__file__).with_name("RESULTS.md")
NODE_PEERS = ("ajv", "ajv-formats", "@ag-ui/client")
OURS = "whole verdict, one process"
STANDALONE, COMPILED, JQ, LOOP = "Ajv, standalone code", "Ajv, compiled at start", "jq -c .", "plain jsonschema loop"
GOALS = {STANDALONE: 1.0, COMPILED: 1.6, JQ: 2.0, LOOP: 40.0}
"""How many times as fast as a peer the verdict was meant to be, at least."""
TWO_JOBS, TWO_JOBS_OF_AJV, OF_PARSING = 1.6, 1.4, 3.5
"""What two jobs were meant to be to one and to Ajv's standalone code, at least, and the verdict to parsing, at most."""
SHORTER = (1_000, 5_000, 10_000)
"""Events of captures as they come from a run or a test."""
LONGER = (85, 300)
"""Pieces of an answer where one session is told after the other: the mean of real answers, and a long one."""


@dataclass(slots=True)
class Case:
    """Something to measure: what it does, how it is called, on how many events, and its best time so far."""

    name: str
    does: str
    command: list[str]
    events: int
    seconds: float = float("inf")
    clock: float = float("inf")
    inside: float = float("inf")
    """The time of the work without start and imports, where the process tells it."""
    absent: str = ""

    def run(self) -> None:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(self.command, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            self.absent = f"it ended with {done.returncode}"
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.seconds, self.clock = min(self.seconds, spent), min(self.clock, time.perf_counter() - start)
        if done.stdout.startswith('{"events":'):
            self.inside = min(self.inside, json.loads(done.stdout)["seconds"])

    @property
    def speed(self) -> float:
        return self.events / self.seconds


def write(path: Path, events: int, told: Callable[[int], Iterator[bytes]] = lines) -> int:
    """Writes the stream; returns how many events it holds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        return sum(file.write(line) > 0 for line in told(events))


CORE, THREADS = "agent-runtime", "agent-threads"


def contract(name: str) -> Path:
    """The schemas and the type of every event and record of a protocol, for validators that run elsewhere."""
    protocol = load_protocol(name)
    types = {event: BASE + reference for event, reference in protocol.events.items()}
    types |= {f"record:{record}": BASE + reference for record, reference in protocol.records.items()}
    path = BUILD / f"contract-{name}.json"
    path.write_text(json.dumps({"schemas": list(protocol.store.documents.values()), "types": types}))
    return path


def agui_stream(events: int) -> Path:
    """A run of AG-UI with one long message; its events are far smaller than ours."""
    run, message = {"threadId": "t", "runId": "r"}, {"messageId": "m"}
    delta = {"type": "TEXT_MESSAGE_CONTENT", **message, "delta": "a few words of text "}
    first = [{"type": "RUN_STARTED", **run}, {"type": "TEXT_MESSAGE_START", **message, "role": "assistant"}]
    last = [{"type": "TEXT_MESSAGE_END", **message}, {"type": "RUN_FINISHED", **run}]
    path = BUILD / "agui.ndjson"
    with path.open("w") as file:
        for event in (*first, *([delta] * (events - 4)), *last):
            file.write(json.dumps(event) + "\n")
    return path


def node_cases(path: Path, events: int, protocol: str = CORE) -> Iterator[Case]:
    script, schema = str(Path(__file__).with_name("peers.mjs").resolve()), str(contract(protocol).resolve())
    code = str((BUILD / f"standalone-{protocol}.cjs").resolve())
    missing = _install()
    agui = str(agui_stream(events).resolve())
    file = str(path.resolve())
    calls = {
        STANDALONE: ("schema only", ["standalone", file, code]),
        COMPILED: ("schema only", ["ajv", file, schema]),
        "AG-UI verifyEvents": ("order of its own small events", ["agui", agui]),
        "JSON.parse in Node": ("nothing", ["parse", file]),
    }
    if not missing:
        subprocess.run(["node", script, "generate", code, schema], cwd=BUILD, check=True, capture_output=True)
    for name, (does, arguments) in calls.items():
        yield Case(name, does, ["env", "-C", str(BUILD), "node", script, *arguments], events, absent=missing)


def _install() -> str:
    """Fetches the peers that run in Node; says why there are none."""
    if not shutil.which("npm"):
        return "npm is not installed"
    done = subprocess.run(["npm", "install", "--silent", *NODE_PEERS], cwd=BUILD, capture_output=True, text=True)
    return "" if done.returncode == 0 else "npm cannot install it here"


def whole_document(short: Path) -> Case:
    """check-jsonschema reads no lines, so it gets some events as one array, and one schema for any of them."""
    events, schema = short.with_suffix(".array.json"), BUILD / "array.schema.json"
    told = short.read_bytes().splitlines()[:ARRAY]
    events.write_bytes(b"[" + b",".join(told) + b"]")
    line = bundle(load_protocol("agent-runtime"))
    array = {"$schema": line["$schema"], "type": "array", "items": {"$ref": line["$id"]}, "$defs": {"line": line}}
    schema.write_text(json.dumps(array))
    command = [sys.executable, "-m", "check_jsonschema", "--schemafile", str(schema), str(events)]
    missing = "" if importlib.util.find_spec("check_jsonschema") else "it is not installed"
    return Case("check-jsonschema, one array", "schema only", command, len(told), absent=missing)


def ours(name: str, path: Path, count: int, jobs: int) -> Case:
    command = [sys.executable, "-c", "from validator.cli import main; main()", "check", "--jobs", str(jobs), str(path)]
    return Case(name, "everything", command, count)


def alone(name: str, does: str, task: str, file: Path, count: int) -> Case:
    return Case(name, does, [sys.executable, "-m", "tests.bench.alone", task, str(file)], count)


def jq(path: Path, count: int) -> Case:
    missing = "" if shutil.which("jq") else "it is not installed"
    return Case(JQ, "nothing", ["jq", "-c", ".", str(path)], count, absent=missing)


def cases(events: int) -> list[Case]:
    path, short = BUILD / "stream.ndjson", BUILD / "short.ndjson"
    written = write(path, events)
    few = write(short, SLOW)
    return [
        ours(OURS, path, written, 1),
        *node_cases(path, written),
        jq(path, written),
        alone(LOOP, "schema only", "jsonschema", short, few),
        whole_document(short),
        alone("json", "nothing", "json", path, written),
        alone("orjson", "nothing", "orjson", path, written),
    ]


def table(found: list[Case], shared: Case, within: Case, rounds: int) -> str:
    """The ratios for one length of the stream; figures are of one machine on one day."""
    ours, standalone, parsing = found[0], found[1], found[-1]
    rows = [
        f"| {case.name} | {case.does} | {'absent: ' + case.absent if case.absent else f'{case.speed:,.0f}'} "
        f"| {ratio(ours, case)} | {GOALS.get(case.name, '')} |"
        for case in found
    ]
    head = [
        f"## {ours.events:,} events, best of {rounds}",
        "",
        "| case | judges | events/s | ours to it | meant, at least |",
        "|---|---|---:|---:|---:|",
    ]
    speed, gain = shared.events / shared.clock, ours.clock / shared.clock
    told = f"Two jobs, by the clock: {speed:,.0f} events/s, {gain:.2f} of one (meant: {TWO_JOBS})"
    if not standalone.absent:
        told += f", {standalone.clock / shared.clock:.3f} of Ajv's standalone code (meant: {TWO_JOBS_OF_AJV})"
    times = f"{within.inside / parsing.inside:.1f} times the time of orjson (meant: {OF_PARSING} at most)"
    return "\n".join([*head, *rows, "", f"{told}.", f"In process, without start and imports: {times}.", ""])


def ratio(ours: Case, peer: Case) -> str:
    """How many times as fast as a peer ours is."""
    return "" if peer.absent else f"{ours.speed / peer.speed:.3f}"


def others(events: int) -> Iterator[tuple[str, list[Case]]]:
    """Shorter captures of the same stream, and other streams, each with ours and its nearest peers."""
    told = {f"short{count}": (count, lines, "") for count in SHORTER}
    for pieces in LONGER:
        stream = functools.partial(one_by_one, pieces=pieces)
        told[f"answers{pieces}"] = (events, stream, f", answers of {pieces} pieces")
    told[THREADS] = (events, threads.lines, f" of {THREADS}")
    for name, (wanted, stream, more) in told.items():
        path = BUILD / f"{name}.ndjson"
        count = write(path, wanted, stream)
        peers = node_cases(path, count, THREADS if name == THREADS else CORE)
        nearest = [case for case in peers if case.name in GOALS]
        yield f"{count:,} events{more}", [ours(OURS, path, count, 1), *nearest, jq(path, count)]


def other_table(events: int, rounds: int) -> str:
    groups = dict(others(events))
    for _ in range(rounds):
        for case in (case for group in groups.values() for case in group if not case.absent):
            case.run()
    names = [case.name for case in next(iter(groups.values()))[1:]]
    head = [
        f"## Shorter captures, longer answers of one session at a time, and another protocol, best of {rounds}",
        "",
        "Real answers have 30 pieces at the median, as those of the stream above, and 76 to 100 on the average.",
        "",
        "| stream | events/s | " + " | ".join(f"ours to {name}" for name in names) + " |",
        "|---|---:|" + "---:|" * len(names),
    ]
    rows = [
        f"| {name} | {mine.speed:,.0f} | " + " | ".join(ratio(mine, peer) for peer in peers) + " |"
        for name, (mine, *peers) in groups.items()
    ]
    return "\n".join([*head, *rows, ""])


def measured(events: int, rounds: int) -> str:
    found = cases(events)
    path, count = BUILD / "stream.ndjson", found[0].events
    shared = ours("whole verdict, two jobs", path, count, 2)
    within = alone("whole verdict, in process", "everything", "verdict", path, count)
    for _ in range(rounds):
        for case in (*found, shared, within):
            if not case.absent:
                case.run()
    return table(found, shared, within, rounds)


def main(rounds: dict[int, int]) -> None:
    """Writes the page: for each length, how often every case is run."""
    head = [
        "# What a verdict costs beside its peers",
        "",
        f"The stream of `tests/bench/talk.py` (slow peers: {SLOW:,} or {ARRAY:,} events), interleaved, processor time",
        "of whole processes. Written by `make bench`; only ratios within one run count.",
        "",
    ]
    tables = [measured(events, times) for events, times in rounds.items()]  # which installs what has a version
    tables.append(other_table(*next(iter(rounds.items()))))
    about = [f"{machine()}.", f"{versions(BUILD / 'node_modules', NODE_PEERS)}.", ""]
    page = "\n".join([*head, *about, *tables])
    RESULTS.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    wishes = [int(word) for word in sys.argv[1:]]
    main({wishes[0]: wishes[1] if len(wishes) > 1 else ROUNDS} if wishes else {100_000: ROUNDS, 1_000_000: 2})
