"""Captures to draw from, and ways to change one that must not matter."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st

from validator import resources
from validator.capture.lines import inner, read_lines
from validator.capture.ndjson import read
from validator.engine import Options, validate
from validator.protocol.casing import camel as spelt_in_camel
from validator.protocol.casing import to_camel
from validator.protocol.protocol import Protocol, available, load_protocol
from validator.replay.documents import documents, ledgers
from validator.replay.world import World
from validator.report import Report
from validator.rulestreams import options_of, rule_streams

Document = dict[str, Any]
law = settings(phases=[Phase.explicit, Phase.generate], derandomize=True, database=None)
"""What is drawn is a file of ours already: shrinking it would take minutes and say no more."""
LONGEST = 24
"""Lines of a golden capture that is worth judging again and again."""


def _golden() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name in available():
        paths = sorted((resources.fixtures() / name / "golden").glob("*.ndjson"))
        found[name] = [path for path in paths if path.read_bytes().count(b"\n") <= LONGEST]
    return found


GOLDEN = _golden()
RULE_STREAMS = [
    (name, path, entry)
    for name in available()
    for _, path, entry in rule_streams(resources.fixtures() / name, load_protocol(name))
]
HEADLESS = [entry for entry in RULE_STREAMS if b'"header"' not in entry[1].read_bytes()]
"""Streams that say nothing about the capture as a whole."""


def is_well_framed(path: Path) -> bool:
    with path.open("rb") as stream:
        return not any(line.problems for line in read(stream))


READABLE = [entry for entry in RULE_STREAMS if is_well_framed(entry[1])]
"""Streams whose lines are all well framed."""


def calm(name: str) -> list[Any]:
    """Golden captures that hold events and lost none: what is lost in one stream is in doubt in all of a capture."""
    found = []
    for path in GOLDEN[name]:
        world = replayed(name, lines_of(path))
        if not world.midway() and world.unproved() is None and any("record" not in line for line in lines_of(path)):
            found.append(path)
    return found


def lines_of(path: Any) -> list[Document]:
    return [line for _, line in read_lines(path)]


def as_bytes(lines: Iterable[Document]) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def judge(lines: Iterable[Document], name: str, entry: Document | None = None) -> Report:
    options = options_of(load_protocol(name), entry) if entry else Options(protocol=name)
    return validate(io.BytesIO(as_bytes(lines)), "drawn.ndjson", options)


def replayed(name: str, lines: Iterable[Document]) -> World:
    world = World(load_protocol(name), ledgers(name.split("/")[0]))
    for number, line in enumerate(lines, start=1):
        world.apply(line, number)
    return world


def shown(world: World) -> dict[str, Any]:
    """States and read models: everything a replay says."""
    states = {
        machine: {key: (entry.state, entry.doubted) for key, entry in world.subjects(machine).items()}
        for machine in world.protocol.machines
    }
    bodies = {
        (document.model, document.ids, str(document.body.get("branch"))): document.body for document in documents(world)
    }
    return {"states": states, "models": bodies}


def marks(report: Report, at: dict[int, int] | None = None, pointers: bool = True) -> list[tuple[Any, ...]]:
    """The findings of a report, with their lines as they were before lines were put in."""
    return sorted(
        (
            (at or {}).get(found.line, found.line),
            found.rule,
            found.clause,
            found.level,
            found.pointer if pointers else "",
            str(found.entity),
            found.expected,
            found.actual,
        )
        for found in report.findings
    )


def outcomes(report: Report) -> dict[str, str]:
    return {entry.requirement: entry.outcome for entry in report.requirements}


# -- changes that must not matter -------------------------------------------------------------------------------------


def camel(protocol: Protocol, line: Document) -> Document:
    """A line in the camelCase binding, what a record carries included."""
    if "record" not in line:
        return to_camel(protocol.store, protocol.schema_for(line.get("type")), line).document
    carried = inner(protocol, line)
    if carried is None:
        return {spelt_in_camel(key) if key.endswith("_id") else key: value for key, value in line.items()}
    pointer, reference = carried
    key = pointer.strip("/")
    return {**line, key: to_camel(protocol.store, reference, line[key]).document}


def vendor_event(name: str, number: int, beside: list[Document]) -> Document:
    """An event of a type nobody lists, in a stream of its own, at the time of the event before it."""
    times = [line["timestamp"] for line in beside if "record" not in line and isinstance(line.get("timestamp"), str)]
    time = times[-1] if times else "2026-05-08T09:00:00.000Z"
    core = {"type": "acme.thing", "event_id": f"acme_{number}", "timestamp": time, "sequence": number}
    # Where events name the version of the envelope, a vendor's do so too.
    core |= next(({"schema_version": line["schema_version"]} for line in beside if "schema_version" in line), {})
    return {
        "agent-runtime": {**core, "session_id": "acme", "payload": {"status": "completed"}},
        "agenthub": {
            "id": f"acme_{number}",
            "sequence": number,
            "type": "acme.thing",
            "runId": "acme",
            "timestamp": time,
            "payload": {},
        },
        "runagents": {
            "event_id": f"acme_{number}",
            "run_id": "acme",
            "seq": number,
            "type": "ACME_THING",
            "timestamp": time,
            "actor": "acme",
            "data": {},
        },
        "agent-threads": {
            "seq": number,
            "timestamp": time,
            "streamId": "acme",
            "event": {"kind": "acme-thing", "payload": {}},
        },
    }[name.split("/")[0]]


_ID = re.compile(r"(?:^id|_id|Id|_ids|Ids|streamId)$")


def ids_of(value: Any, key: str = "") -> set[str]:
    """Every string that stands under a name for ids."""
    if isinstance(value, dict):
        return {found for name, sub in value.items() for found in ids_of(sub, name)}
    if isinstance(value, list):
        return {found for sub in value for found in ids_of(sub, key)}
    return {value} if isinstance(value, str) and _ID.search(key) else set()


def renamed(lines: list[Document], mark: str) -> list[Document]:
    """The same lines about other subjects: every id gets a mark, wherever it occurs."""
    ids = {found for line in lines if line.get("record") != "header" for found in ids_of(line)}
    ids |= {found.removeprefix("run:") for found in ids}

    def rename(value: Any) -> Any:
        if isinstance(value, dict):
            return {rename(key): rename(sub) for key, sub in value.items()}
        if isinstance(value, list):
            return [rename(sub) for sub in value]
        return value + mark if isinstance(value, str) and value in ids else value

    return [rename(line) for line in lines if line.get("record") != "header"]


@st.composite
def insertions(draw: st.DrawFn, length: int, most: int = 3) -> list[int]:
    """Places between the lines of a stream, in order."""
    return sorted(draw(st.lists(st.integers(1, length), min_size=1, max_size=most)))


def interleaved(order: list[bool], one: list[Document], two: list[Document]) -> tuple[list[Document], list[tuple]]:
    """Two streams in one, each in its own order; and for every line, whose it is and its number there."""
    mixed, origin, counts = [], [], [0, 0]
    for first in [*order, *[True] * len(one), *[False] * len(two)]:
        which, lines = (0, one) if first else (1, two)
        if counts[which] < len(lines):
            mixed.append(lines[counts[which]])
            counts[which] += 1
            origin.append((which, counts[which]))
    return mixed, origin
