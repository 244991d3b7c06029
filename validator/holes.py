"""The holes of a streamed line: where lines that say the same differ, and what stands between.

A layout is the order in which the holes of a type of line come. Two lines with the same bytes between their holes are
the same document but for what fills these. That the holes are what they are taken for is proved once per line that
others may repeat: filled with something else, it has to read so (`proves`).
"""

from __future__ import annotations

import json
import re
from typing import Any

from validator.capture.encode import sorted_bytes
from validator.records import dataclass

Key = tuple[bytes, ...]
"""What of a line stands between its holes."""
Fields = dict[str, str]
"""Fields of a payload to what they hold: `text`, a position that `grows`, or the `size` of the text."""

_TEXT = rb'([^"\\\x00-\x1f]*+(?:\\[nrt"\\][^"\\\x00-\x1f]*+)*+)'
_COUNT = rb"(0|[1-9][0-9]{0,14})"
_STAMP = rb"([0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?Z)"
_HOLES = {"text": (rb'"', _TEXT), "grows": (b"", _COUNT), "size": (b"", _COUNT)}
ENVELOPE = {"event_id": (rb'"', rb'([^"\\\x00-\x1f]+)'), "timestamp": (rb'"', _STAMP), "sequence": (b"", _COUNT)}
_PROBES = {"event_id": "\u2401", "timestamp": "\u2402", "text": "\u2403", "sequence": 971, "grows": 972, "size": 973}


@dataclass(slots=True)
class Layout:
    """The order in which the holes of a type of line come, and how to find them."""

    sign: bytes
    """What every such line holds."""
    names: tuple[str, ...]
    match: Any
    constant: tuple[int, ...]
    """The groups between the holes."""
    groups: dict[str, int]
    always: tuple[int, ...]
    """The groups of what every line has: sequence, time, id and text."""

    def number(self, match: Any, name: str) -> int | None:
        """The number in a hole; None when the line has no such hole."""
        group = self.groups.get(name)
        return int(match.group(group)) if group else None


class Layouts:
    """The layouts met so far."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Layout] = {}
        self.all: list[Layout] = []

    def of(self, document: dict[str, Any], fields: Fields, raw: bytes) -> Layout | None:
        """The layout of a line; None when it lacks one of the holes."""
        payload = document.get("payload")
        if not isinstance(payload, dict):
            return None
        holes = {name: (name, *shape) for name, shape in ENVELOPE.items()}
        holes |= {kind: (name, *_HOLES[kind]) for name, kind in fields.items() if name in payload}
        places = {kind: raw.find(b'"%b":' % name.encode()) for kind, (name, *_) in holes.items()}
        if "text" not in holes or min(places.values()) < 0:
            return None
        names = tuple(sorted(places, key=places.__getitem__))
        key = (document["type"], *names)
        if key not in self._known:
            self._known[key] = _compiled(document["type"], names, holes)
            self.all.append(self._known[key])
        return self._known[key]


def _compiled(kind: str, names: tuple[str, ...], holes: dict[str, tuple[str, bytes, bytes]]) -> Layout:
    """Finds the holes of a line one after the other; nothing is tried twice, however a line is written."""
    parts, quote = [], b""
    for hole in names:
        name, mark, pattern = holes[hole]
        parts.append(rb'(%b(?>.*?"%b": ?)%b)%b' % (quote, name.encode(), mark, pattern))
        quote = mark
    regex = re.compile(b"".join(parts) + rb"(%b.*)" % quote, re.DOTALL)
    groups = {hole: 2 * place + 2 for place, hole in enumerate(names)}
    constant = tuple(range(1, 2 * len(names) + 2, 2))
    always = tuple(groups[name] for name in ("sequence", "timestamp", "event_id", "text"))
    return Layout(f'"{kind}"'.encode(), names, regex.fullmatch, constant, groups, always)


def _probed(document: dict[str, Any], fields: Fields) -> dict[str, Any]:
    """The document with something else in each hole."""
    payload = document["payload"]
    inner = {name: _PROBES[kind] for name, kind in fields.items() if name in payload}
    return {**document, **{name: _PROBES[name] for name in ENVELOPE}, "payload": {**payload, **inner}}


def proves(layout: Layout, key: Key, document: dict[str, Any], fields: Fields) -> bool:
    """True when the holes of a layout are those of the document: filled with something else, it reads so."""
    parts = [key[0]]
    for name, after in zip(layout.names, key[1:], strict=True):
        parts += (str(_PROBES[name]).encode(), after)
    try:
        return json.loads(b"".join(parts)) == _probed(document, fields)
    except ValueError:
        return False


def in_order(document: dict[str, Any], fields: Fields) -> tuple[bytes, tuple[str, ...]] | None:
    """The document with its keys in order and a mark for each hole, to be filled in, and the holes in that order."""
    written = sorted_bytes(_probed(document, fields))
    marks = {kind: sorted_bytes(_PROBES[kind]).strip(b'"') for kind in (*ENVELOPE, *fields.values())}
    found = {kind: written.find(mark) for kind, mark in marks.items() if written.count(mark) == 1}
    present = {*ENVELOPE, *(kind for name, kind in fields.items() if name in document["payload"])}
    if set(found) != present:
        return None
    order = tuple(sorted(found, key=found.__getitem__))
    parts, start = [], 0
    for kind in order:
        parts.append(written[start : found[kind]])
        start = found[kind] + len(marks[kind])
    return b"%b".join(part.replace(b"%", b"%%") for part in (*parts, written[start:])), order
