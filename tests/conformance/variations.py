"""The streams of a rule, each changed a little in many ways: near misses of near misses that nobody wrote by hand.

Which changes a stream suffers is drawn from its name, so every run makes the same ones. What the rule then says is
recorded beside the reports; it says neither that the change is a fault nor that it is none, only that the judge's
answer to it does not move unnoticed.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from validator.capture.ndjson import Splitter
from validator.protocol.protocol import Protocol
from validator.rules import Finding
from validator.rulestreams import options_of
from validator.session import Session

EDITS = 5
FIELDS = 10
"""How many changes of lines, and of fields, a stream suffers."""
_PLAIN = {"type", "record", "event_id", "eventId", "timestamp", "schema_version", "schemaVersion", "created_at", "ts"}
"""Fields whose changes other tests are about."""
Lines = list[bytes]


def variations(path: Path) -> Iterator[tuple[str, bytes]]:
    """What is changed, and the stream that comes of it."""
    lines = path.read_bytes().splitlines()
    if not lines:
        return
    for name, edit in drawn(f"{path.parent.name} {path.stem}", _edits(lines), EDITS):
        yield name, b"\n".join(edit(list(lines))) + b"\n"
    for name, rows in _beside(path, lines):
        yield name, b"\n".join(rows) + b"\n"
    documents = [document(line) for line in lines]
    for name, edit in drawn(f"{path.parent.name} {path.stem}", field_edits(documents), FIELDS):
        changed = copy.deepcopy(documents)
        edit(changed)
        rows = (line if one == two else written(two) for line, one, two in zip(lines, documents, changed, strict=True))
        yield name, b"\n".join(rows) + b"\n"


def answer(protocol: Protocol, rule: str, path: Path, entry: dict[str, Any], data: bytes) -> str:
    """How often the rule looks for each clause, and each of its findings: where, what, and a sum of its words."""
    options = replace(options_of(protocol, entry), select=(rule,))
    splitter = Splitter(options.limits)
    lines = [*splitter.feed(data), *splitter.close()]
    header = next((line.document for line in lines if line.readable), {})
    session = Session(path.name, protocol, options, header if header.get("record") == "header" else {})
    for line in lines:
        session.take(line)
    session.asker.ask(session.catalogue.at_end, None)
    session.asker.settle()
    session.tally.settle(protocol.name)
    looks = [f"{clause} {times}" for clause, times in sorted(session.tally.looks.items())]
    crashes = [f"crash at {crash.line}" for crash in session.tally.crashes]
    return "; ".join([", ".join(looks), *crashes, *map(_said, session.tally.findings)])


def _said(found: Finding) -> str:
    words = f"{found.expected} {found.actual} {found.entity} {found.key}"
    place = f"{found.line} {found.pointer} {found.clause} {found.state} {list(found.witness)}"
    return f"{place} {zlib.crc32(words.encode()):08x}"


def answers(protocol: Protocol, rule: str, path: Path, entry: dict[str, Any]) -> dict[str, list[str]]:
    """Each answer with the changes that lead to it."""
    found: dict[str, list[str]] = {}
    for name, data in (("as it is", path.read_bytes()), *variations(path)):
        found.setdefault(answer(protocol, rule, path, entry, data), []).append(name)
    return found


def drawn(story: str, edits: Iterator[tuple[str, Any]], most: int) -> list[tuple[str, Any]]:
    """So many of the edits, other ones for each story."""

    def lot(edit: tuple[str, Any]) -> str:
        return hashlib.sha256(f"{story} {edit[0]}".encode()).hexdigest()

    return sorted(edits, key=lot)[:most]


def _edits(lines: Lines) -> Iterator[tuple[str, Callable[[Lines], Lines]]]:
    """Changes of whole lines."""
    for at in range(len(lines)):
        yield f"without {at + 1}", lambda rows, at=at: rows[:at] + rows[at + 1 :]
        yield f"{at + 1} twice", lambda rows, at=at: rows[: at + 1] + rows[at:]
        yield f"{at + 1} unreadable", lambda rows, at=at: [*rows[:at], b"{", *rows[at + 1 :]]
        if at:
            yield f"from {at + 1} on", lambda rows, at=at: rows[at:]
            yield f"up to {at}", lambda rows, at=at: rows[:at]
            yield f"{at + 1} first", lambda rows, at=at: [*rows[: at - 1], rows[at], rows[at - 1], *rows[at + 1 :]]
            yield f"restart before {at + 1}", lambda rows, at=at: [*rows[:at], b'{"record":"restart"}', *rows[at:]]


def _beside(path: Path, lines: Lines) -> Iterator[tuple[str, Lines]]:
    """The stream together with the next one of its rule, all of whose ids are others."""
    siblings = sorted(path.parent.glob("*.ndjson"))
    other = siblings[(siblings.index(path) + 1) % len(siblings)]
    documents = [document(line) for line in other.read_bytes().splitlines()]
    strange = [written(renamed(one)) for one in documents if isinstance(one, dict) and one.get("record") != "header"]
    pairs = itertools.zip_longest(lines, strange)
    yield f"beside {other.stem}", [line for pair in pairs for line in pair if line is not None]
    first = 1 if b'"header"' in lines[0] else 0
    yield f"after {other.stem}", [*lines[:first], *strange, *lines[first:]]


def renamed(value: Any, is_id: bool = False) -> Any:
    """A document with other ids."""
    if isinstance(value, dict):
        return {key: renamed(inner, key.lower().endswith(("id", "ids"))) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, is_id) for inner in value]
    return f"{value}x" if is_id and isinstance(value, str) else value


def field_edits(documents: list[Any]) -> Iterator[tuple[str, Callable[[list[Any]], None]]]:
    """Changes of single values, wherever they stand."""
    for at, document in enumerate(documents):
        for place in places(document, ()):
            name = f"{at + 1}/" + "/".join(map(str, place))
            value = at_place(document, place)
            yield f"{name} gone", lambda rows, at=at, place=place: _cut(rows[at], place)
            others = [("unknown", _unknown()), ("odd", _odd(value)), ("other", _other(value))]
            if isinstance(value, list) and value:
                others += [("turned", value[::-1]), ("led", [{} if isinstance(value[0], dict) else "other", *value])]
            for word, other in others:
                yield f"{name} {word}", lambda rows, at=at, place=place, other=other: put(rows[at], place, other)


def places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        if path or key not in _PLAIN:
            yield (*path, key)
            yield from places(inner, (*path, key))


def _unknown() -> dict[str, str]:
    return {"honest": "unknown", "reason": "not kept"}


def _odd(value: Any) -> Any:
    """Something of another kind."""
    return 7 if isinstance(value, str) else "odd"


def _other(value: Any) -> Any:
    """Something else of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return "other"
    return value[1:] if isinstance(value, list) else {}


def document(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def written(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode("utf-8")


def at_place(document: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        document = document[key]
    return document


def _cut(document: Any, place: tuple[Any, ...]) -> None:
    del at_place(document, place[:-1])[place[-1]]


def put(document: Any, place: tuple[Any, ...], value: Any) -> None:
    at_place(document, place[:-1])[place[-1]] = value
