"""The holes of a streamed line: where lines that say the same differ, and what stands between.

A layout is the order in which the holes of a type of line come. Two lines with the same bytes between their holes are
the same document but for what fills these. That the holes are what they are taken for is proved once per line that
others may repeat: filled with something else, it has to read so (`in_order`). Holes are named as the tables name them;
a capture may spell the names otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from validator.capture.encode import sorted_bytes, unpack
from validator.records import dataclass

Key = tuple[bytes, ...]
"""What of a line stands between its holes."""
Read = Callable[[dict[str, Any]], dict[str, Any] | None]
"""What reads a document of a capture as the tables spell it; None where that is not sure."""
Fields = dict[str, str]
"""Fields of a payload to what they hold: `text`, a position that `grows`, or the `size` of the text."""

_TEXT = rb'[^"\\\x00-\x1f]*+(?:\\[nrt"\\][^"\\\x00-\x1f]*+)*+'
_WRITTEN = rb'[^"\\\x00-\x1f]*+(?:\\(?:[nrt"\\/]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+'
"""A text as our own writer escapes it, and as others may."""
_NAME = rb'[^"\\\x00-\x1f]+'
_COUNT = rb"(?:0|[1-9][0-9]{0,14})"
_ZONE = rb"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_CLOCK = rb"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?" + _ZONE
_STAMP = rb"[0-9]{4}-[0-9]{2}-[0-9]{2}" + _CLOCK
_HOLES = {"text": (rb'"', _WRITTEN), "grows": (b"", _COUNT), "size": (b"", _COUNT)}
ENVELOPE = {"event_id": (rb'"', _NAME), "timestamp": (rb'"', _STAMP), "sequence": (b"", _COUNT)}
NAMES = ("sequence", "timestamp", "event_id", "text", "grows", "size")
"""All holes; what fills them is told in this order, and nothing for those that a line has not."""
_NUMBERS = {"sequence": 948_150_073_614_971, "grows": 948_150_073_614_972, "size": 948_150_073_614_973}
_PROBES = {"event_id": "\u2401", "timestamp": "\u2402", "text": "\u2403", **_NUMBERS}
_MARKS = {name: sorted_bytes(probe).strip(b'"') for name, probe in _PROBES.items()}
_NONE = slice(0, 0)

is_text = re.compile(_TEXT).fullmatch
is_name = re.compile(_NAME).fullmatch
is_count = re.compile(_COUNT).fullmatch
_is_clock = re.compile(_CLOCK).fullmatch


def goes_on(before: bytes, stamp: bytes) -> bool:
    """True for a time of the same day and zone, written alike, that is not earlier."""
    if len(stamp) != len(before) or stamp < before or stamp[:10] != before[:10]:
        return False
    zone = -1 if stamp.endswith(b"Z") else -6
    if stamp[zone:] != before[zone:]:
        return False
    return stamp == before or _is_clock(stamp, 10) is not None


@dataclass(slots=True)
class Layout:
    """The order in which the holes of a type of line come, and how to find them."""

    names: tuple[str, ...]
    match: Any
    constant: tuple[int, ...]
    """The groups between the holes."""
    text: int
    """The group of the text."""
    places: tuple[int, ...]
    """Where each of `NAMES` comes; last of all, where there is nothing, those that it has not."""
    marks: tuple[bytes, ...]
    """The marks of the holes in the order of their keys."""
    order: Any
    """Picks what fills the holes in that order."""


class Layouts:
    """The layouts met so far."""

    def __init__(self, spell: Callable[[str], str]) -> None:
        self._spell = spell
        self._known: dict[tuple[str, ...], Layout] = {}
        self._last: dict[tuple[str, ...], Layout] = {}

    def match(self, document: dict[str, Any], fields: Fields, raw: bytes) -> tuple[Layout, Any] | None:
        """The layout of a line and where it has its holes; None when it lacks one of them."""
        payload = document.get("payload")
        if type(payload) is not dict:
            return None
        present = (document["type"], *(name for name in fields if name in payload))
        layout = self._last.get(present)
        found = layout.match(raw) if layout else None
        if found is None:
            layout = self._last[present] = self._of(present, fields, raw)
            found = layout.match(raw) if layout else None
        return (layout, found) if found else None

    def _of(self, present: tuple[str, ...], fields: Fields, raw: bytes) -> Layout | None:
        holes = {name: (name, *shape) for name, shape in ENVELOPE.items()}
        holes |= {fields[name]: (name, *_HOLES[fields[name]]) for name in present[1:]}
        spelt = {kind: self._spell(name).encode() for kind, (name, *_) in holes.items()}
        places = {kind: raw.find(b'"%b":' % name) for kind, name in spelt.items()}
        if "text" not in holes or min(places.values()) < 0:
            return None
        names = tuple(sorted(places, key=places.__getitem__))
        key = (present[0], *names)
        if key not in self._known:
            self._known[key] = _compiled(names, holes, spelt)
        return self._known[key]


def _compiled(
    names: tuple[str, ...], holes: dict[str, tuple[str, bytes, bytes]], spelt: dict[str, bytes]
) -> Layout:
    """Finds the holes of a line one after the other; nothing is tried twice, however a line is written."""
    parts, quote = [], b""
    for hole in names:
        _, mark, pattern = holes[hole]
        parts.append(rb'(%b(?>.*?"%b": ?)%b)(%b)' % (quote, spelt[hole], mark, pattern))
        quote = mark
    regex = re.compile(b"".join(parts) + rb"(%b.*)" % quote, re.DOTALL)
    by_key = sorted(names, key=lambda hole: (holes[hole][0] if hole in ENVELOPE else "payload", holes[hole][0]))
    return Layout(
        names,
        regex.fullmatch,
        tuple(range(1, 2 * len(names) + 2, 2)),
        2 * names.index("text") + 2,
        tuple(names.index(name) if name in names else -1 for name in NAMES),
        tuple(_MARKS[hole] for hole in by_key),
        itemgetter(*map(NAMES.index, by_key)),
    )


class Template:
    """A line that others may repeat: the bytes between its holes, and where these are.

    Most lines differ from the one before in the length of their text at most, so they are cut where that one was. If
    they then are not the same between the holes, the holes are looked for.
    """

    __slots__ = ("_between", "_inside", "_layout", "_least", "key")

    def __init__(self, layout: Layout, match: Any):
        self._layout, self.key = layout, match.group(*layout.constant)
        self._measure(match)

    def _measure(self, match: Any) -> None:
        start, end = match.span(self._layout.text)
        length = match.end()
        self._least = length - (end - start)
        # Behind the text, places are counted from the end.
        bounds = [0, *[place if place <= start else place - length for _, place in match.regs[1:-1]], None]
        cuts = list(map(slice, bounds, bounds[1:]))
        inside = [*cuts[1::2], _NONE]
        self._between = itemgetter(*cuts[::2])
        self._inside = itemgetter(*[inside[place] for place in self._layout.places])

    def holes(self, raw: bytes) -> tuple[bytes, ...] | None:
        """What fills the holes of a line, in the order of `NAMES`; None when it differs elsewhere.

        What it is has to be looked at: any bytes may fill a hole.
        """
        if len(raw) >= self._least and self._between(raw) == self.key:
            return self._inside(raw)
        match = self._layout.match(raw) if raw.startswith(self.key[0]) else None
        if match is None or match.group(*self._layout.constant) != self.key:
            return None
        self._measure(match)
        return self._inside(raw)


def _probed(document: dict[str, Any], fields: Fields) -> dict[str, Any]:
    """The document with something else in each hole."""
    payload = document["payload"]
    inner = {name: _PROBES[kind] for name, kind in fields.items() if name in payload}
    return {**document, **{name: _PROBES[name] for name in ENVELOPE}, "payload": {**payload, **inner}}


def in_order(
    layout: Layout, match: Any, document: dict[str, Any], fields: Fields, read: Read
) -> tuple[bytes, Any] | None:
    """The document with its keys in order and a mark for each hole, and what picks that which fills them.

    None unless the holes of the layout are those of the document: filled with something else, it has to read so.
    """
    probed = _probed(document, fields)
    if not _proves(layout, match.group(*layout.constant), probed, read):
        return None
    written = sorted_bytes(probed)
    if any(written.count(mark) != 1 for mark in layout.marks):
        return None
    parts = []
    for mark in layout.marks:
        before, _, written = written.partition(mark)
        parts.append(before.replace(b"%", b"%%"))
    parts.append(written.replace(b"%", b"%%"))
    return b"%b".join(parts), layout.order


def _proves(layout: Layout, key: Key, probed: dict[str, Any], read: Read) -> bool:
    parts = [key[0]]
    for name, after in zip(layout.names, key[1:], strict=True):
        parts += (str(_PROBES[name]).encode(), after)
    try:
        return read(unpack(b"".join(parts))) == probed
    except ValueError:
        return False
