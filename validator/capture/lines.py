"""Which schema a line of a capture has to fit.

A line is an event unless it has a `record` key. Record lines fit two schemas: that of their kind in `capture/1`, and,
for what they carry, that of the protocol (a command's request, a snapshot's read model, a run record).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from validator.datafile import shown
from validator.errors import CaptureError
from validator.protocol.protocol import Protocol
from validator.protocol.schemas import SchemaError, SchemaStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

RECORDS = "capture/1/records.schema.json#/$defs/"


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a capture we ship, with their line numbers; anything unreadable stops us."""
    import json  # a check reads lines in another way

    with path.open(encoding="utf-8", newline="\n") as file:
        for number, text in enumerate(file, start=1):
            try:
                line = json.loads(text)
            except json.JSONDecodeError as error:
                raise CaptureError(error.msg, source=shown(path), place=f"line {number}") from error
            if not isinstance(line, dict):
                raise CaptureError("the line is not an object", source=shown(path), place=f"line {number}")
            yield number, line


def line_errors(protocol: Protocol, line: dict[str, Any]) -> list[SchemaError]:
    """Everything in which a line does not fit its schemas."""
    store = protocol.store
    if "record" not in line:
        return store.line_errors(protocol.schema_for(protocol.type_of(line)), line)
    known = _kinds(store)
    if _word(line, "record") not in known:
        return [SchemaError("/record", "enum", f"must be one of {', '.join(known)}")]
    found = store.errors(RECORDS + line["record"], line)
    carried = inner(protocol, line)
    if carried is not None:
        pointer, reference = carried
        value = line[pointer.strip("/")] if pointer else line
        found += [SchemaError(pointer + e.pointer, e.keyword, e.message) for e in store.errors(reference, value)]
    return found


@functools.lru_cache(maxsize=8)
def _kinds(store: SchemaStore) -> tuple[str, ...]:
    """The kinds of records that a capture may hold."""
    known = store.kept.get("records")
    if known is None:
        known = tuple(store.subschema("capture/1/records.schema.json")["$defs"])
        store.kept.put("records", lambda: known)
    return known


def inner(protocol: Protocol, line: dict[str, Any]) -> tuple[str, str] | None:
    """Where a record line carries a document of the protocol, and which schema that has."""
    match line["record"]:
        case "command" if isinstance(line.get("request"), dict) and _word(line, "command") in protocol.commands:
            return "/request", protocol.commands[line["command"]].request
        case "result" if isinstance(line.get("result"), dict) and _word(line, "command") in protocol.commands:
            return "/result", protocol.commands[line["command"]].result
        case "snapshot" if isinstance(line.get("snapshot"), dict):
            model = _word(line, "model")
            reference = protocol.snapshots.get(model) or protocol.records.get(model)
            return ("/snapshot", reference) if reference else None
        case "run" if "run" in protocol.records:
            return "", protocol.records["run"]
    return None


def _word(line: dict[str, Any], key: str) -> str:
    """The word a line has under a key; anything that is no word counts as none."""
    value = line.get(key)
    return value if isinstance(value, str) else ""


def planted(header: dict[str, Any]) -> tuple[str, ...]:
    """The canaries that a header declares; whatever is none is left out."""
    words = header.get("canaries")
    return tuple(word for word in (words if isinstance(words, list) else ()) if isinstance(word, str))
