"""Exports: one line that holds other lines, such as an event in another system's envelope or a whole log.

What an export looks like and what it holds is protocol data (`exports`). The judge sees the lines inside, in the order
the data lists them; the place of each is kept, so that a finding points into the line that was read.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.protocol.protocol import Protocol
from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """A line inside a line, and its JSON pointer there; None where a line is what it is."""

    document: dict[str, Any]
    at: str | None = None
    export: str = ""
    """The record whose schema it has, for an envelope around events that is no line of a capture itself."""


def parts(protocol: Protocol, line: dict[str, Any]) -> list[Part]:
    """What a line holds: itself, or the lines of an export and then the export as a whole."""
    exports = protocol.data.get("exports")
    if not exports or "record" in line or protocol.lens.get(line, "type") is not None:
        return [Part(line)]
    name = next((name for name, export in exports.items() if all(key in line for key in export["has"])), None)
    if name is None:
        return [Part(line)]
    whole = Part(_recorded(line, name), "") if exports[name].get("whole") else Part(line, "", export=name)
    return [*_presupposed(protocol, exports[name], line, list(_parts(exports[name], line))), whole]


def _presupposed(protocol: Protocol, export: dict[str, Any], line: dict[str, Any], found: list[Part]) -> list[Part]:
    """Puts what the last record of a subject presupposes, and no event tells, before the first event that needs it."""
    rule = export.get("presupposes")
    if not rule:
        return found
    key, kind = rule["in"].removesuffix("[]"), export["parts"][rule["in"]]
    records = line.get(key)
    for index, record in enumerate(records if isinstance(records, list) else ()):
        told = rule["status"].get(str(record.get("status"))) if isinstance(record, dict) else None
        place = _needed_at(protocol, rule, record[rule["id"]], found) if told and rule["id"] in record else None
        if place is not None:
            found.insert(place, Part(_recorded({**record, "status": told}, kind), f"/{key}/{index}"))
    return found


def _needed_at(protocol: Protocol, rule: dict[str, Any], subject: Any, found: list[Part]) -> int | None:
    """Where the first event stands that needs what no event tells of a subject; None where there is none."""
    asked = None
    for place, part in enumerate(found):
        kind, data = protocol.type_of(part.document), part.document.get("data")
        names = isinstance(data, dict) and data.get(rule["id"]) == subject
        if names and kind in rule["told_by"]:
            return None
        if asked is None and names:
            asked = place
    later = enumerate(found) if asked is not None else ()
    return next((at for at, part in later if at > asked and protocol.type_of(part.document) in rule["needed_by"]), None)


def _parts(export: dict[str, Any], line: dict[str, Any]) -> Iterator[Part]:
    for place, kind in export["parts"].items():
        value = line.get(place.removesuffix("[]"))
        entries = enumerate(value) if place.endswith("[]") and isinstance(value, list) else [(None, value)]
        for index, entry in entries:
            if isinstance(entry, dict):
                at = f"/{place}" if index is None else f"/{place[:-2]}/{index}"
                yield Part(_recorded(entry, kind), at)


def _recorded(document: dict[str, Any], kind: str) -> dict[str, Any]:
    """A document as the line of a capture that would carry it."""
    if kind == "event":
        return document
    if kind == "run":
        return {**document, "record": "run"}
    return {"record": "snapshot", "model": kind, "snapshot": document}
