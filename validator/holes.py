"""The holes of a streamed line: where lines that say the same differ, and what stands between.

A layout is the order in which the holes of a type of line come. Two lines with the same bytes between their holes are
the same document but for what fills these. That the holes are what they are taken for is proved once per line that
others may repeat: filled with something else, it has to read so (`in_order`). Holes are named as the tables name them;
a capture may spell the names otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile
from operator import itemgetter
from typing import Any, NamedTuple

from validator.capture.encode import sorted_bytes, unpack
from validator.records import dataclass
from validator.streamed import Fields, Frame, Path

Key = tuple[bytes, ...]
"""What of a line stands between its holes."""
Read = Callable[[dict[str, Any]], dict[str, Any] | None]
"""What reads a document of a capture as the tables spell it; None where that is not sure."""


class Hole(NamedTuple):
    """A place of a document, and what fills it."""

    kind: str
    path: Path


_TEXT = rb'[^"\\\x00-\x1f]*+(?:\\[nrt"\\][^"\\\x00-\x1f]*+)*+'
_WRITTEN = rb'[^"\\\x00-\x1f]*+(?:\\(?:[nrt"\\/]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+'
"""A text as our own writer escapes it, and as others may."""
_NAME = rb'[^"\\\x00-\x1f]+'
_COUNT = rb"(?:0|[1-9][0-9]{0,14})"
_UTC = ord("Z")
_ZONE = rb"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_CLOCK = rb"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?" + _ZONE
_STAMP = rb"[0-9]{4}-[0-9]{2}-[0-9]{2}" + _CLOCK
_WHOLE = rb"(?:0|-?[1-9][0-9]{0,14})"
_FRACTION = rb"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,17}"
NAMES = ("sequence", "timestamp", "event_id", "text", "grows", "size")
"""The holes of a stream; what fills them is told in this order, and nothing for those that a line has not."""
_SHAPES = {
    "event_id": (b'"', _NAME),
    "timestamp": (b'"', _STAMP),
    "sequence": (b"", _COUNT),
    "text": (b'"', _WRITTEN),
    "grows": (b"", _COUNT),
    "size": (b"", _COUNT),
    "count": (b"", _COUNT),
    "word": (b'"', _NAME),
    "whole": (b"", _WHOLE),
    "fraction": (b"", _FRACTION),
}
"""What stands before each kind of hole, and what fills it."""
VENDORS = frozenset({"word", "whole", "fraction"})
"""Kinds of holes in fields that the contract does not know, which are spelt in one way only."""
_NONE = slice(0, 0)


def _probe(kind: str, number: int) -> str | int | float:
    """Something that fills a hole and stands nowhere else; the number tells holes of a line apart."""
    if kind == "fraction":
        return float(f"0.9481500{number:02d}1")
    return f"\u2401{chr(0x2460 + number)}" if _SHAPES[kind][0] else 948_150_073_614_900 + number


is_text = re.compile(_TEXT).fullmatch
is_name = re.compile(_NAME).fullmatch
is_count = re.compile(_COUNT).fullmatch
is_whole = re.compile(_WHOLE).fullmatch
_is_fraction = re.compile(_FRACTION).fullmatch
_is_clock = re.compile(_CLOCK).fullmatch


def is_fraction(written: bytes) -> bool:
    """True for a number that our own writer writes in the same way."""
    return _is_fraction(written) is not None and repr(float(written)).encode() == written


def goes_on(before: bytes, stamp: bytes) -> bool:
    """True for a time of the same day and zone, written alike, that is not earlier."""
    if len(stamp) != len(before) or stamp < before or stamp[:10] != before[:10]:
        return False
    if (stamp[-1] != _UTC or before[-1] != _UTC) and stamp[-6:] != before[-6:]:
        return False
    return stamp == before or _is_clock(stamp, 10) is not None


@dataclass(slots=True)
class Layout:
    """The order in which the holes of a type of line come, and how to find them."""

    holes: tuple[Hole, ...]
    match: Any
    constant: tuple[int, ...]
    """The groups between the holes."""
    text: int
    """The group of the text."""
    places: tuple[int, ...]
    """Where each of `NAMES` comes, then those beside them; last of all, where there is nothing, what it has not."""
    probes: tuple[Any, ...]
    """Something else for each of the holes."""
    marks: tuple[bytes, ...]
    """The same as it is written."""


def at(document: Any, path: Path) -> Any:
    """What stands at a path; nothing where something on the way is no plain object."""
    for name in path:
        if type(document) is not dict or name not in document:
            return None
        document = document[name]
    return document


class Layouts:
    """The layouts met so far."""

    def __init__(self, spell: Callable[[str], str], frame: Frame) -> None:
        self._spell, self._payload = spell, frame.payload
        self._envelope = [Hole(name, path) for name, path in frame.envelope.items()]
        self._known: dict[tuple[Any, ...], Layout] = {}
        self._last: dict[tuple[Any, ...], Layout | None] = {}

    def match(
        self, document: dict[str, Any], kind: str, fields: Fields, beside: tuple[Hole, ...], raw: bytes
    ) -> tuple[Layout, Any] | None:
        """The layout of a line of a type with some more holes, and where it has them; None when it lacks one."""
        payload = at(document, self._payload)
        if type(payload) is not dict:
            return None
        present = (kind, *(name for name in fields if name in payload), *beside)
        layout = self._last.get(present)
        found = layout.match(raw) if layout else None
        if found is None:
            text = [Hole(kind, (*self._payload, name)) for name, kind in fields.items() if name in payload]
            own = [*self._envelope, *text]
            layout = self._last[present] = self._of(own, beside, raw)
            found = layout.match(raw) if layout else None
        return (layout, found) if layout and found else None

    def _of(self, own: list[Hole], beside: tuple[Hole, ...], raw: bytes) -> Layout | None:
        kinds = [hole.kind for hole in own]
        places = {hole: raw.find(b'"%b":' % self._name(hole)) for hole in (*own, *beside)}
        if kinds.count("text") != 1 or min(places.values()) < 0:
            return None
        holes = tuple(sorted(places, key=places.__getitem__))
        if (holes, beside) not in self._known:
            self._known[holes, beside] = self._compiled(holes, beside)
        return self._known[holes, beside]

    def _name(self, hole: Hole) -> bytes:
        """The key before a hole as it is written."""
        name = hole.path[-1]
        return (name if hole.kind in VENDORS else self._spell(name)).encode()

    def _compiled(self, holes: tuple[Hole, ...], beside: tuple[Hole, ...]) -> Layout:
        """Finds the holes of a line one after the other; nothing is tried twice, however a line is written."""
        parts, quote = [], b""
        for hole in holes:
            mark, pattern = _SHAPES[hole.kind]
            parts.append(rb'(%b(?>.*?"%b": ?)%b)(%b)' % (quote, re.escape(self._name(hole)), mark, pattern))
            quote = mark
        regex = re.compile(b"".join(parts) + rb"(%b.*)" % quote, re.DOTALL)
        kinds = [hole.kind for hole in holes]
        named = [kinds.index(name) if name in kinds else -1 for name in NAMES]
        probes = tuple([_probe(kind, number) for number, kind in enumerate(kinds)])
        return Layout(
            holes,
            regex.fullmatch,
            tuple(range(1, 2 * len(holes) + 2, 2)),
            2 * kinds.index("text") + 2,
            (*named, *map(holes.index, beside)),
            probes,
            tuple([sorted_bytes(probe).strip(b'"') for probe in probes]),
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
        """What fills the holes of a line, those of `NAMES` first; None when it differs elsewhere.

        What it is has to be looked at: any bytes may fill a hole.
        """
        if len(raw) >= self._least and self._between(raw) == self.key:
            return self._inside(raw)
        match = self._layout.match(raw) if raw.startswith(self.key[0]) else None
        if match is None or match.group(*self._layout.constant) != self.key:
            return None
        self._measure(match)
        return self._inside(raw)

    def rows(self, lines: list[bytes], longest: int) -> list[tuple[bytes, ...]]:
        """What fills the holes of lines that are cut as the last one was, up to the first that differs elsewhere."""
        first, least = self.key[0], self._least
        alike = [line.startswith(first) and least <= len(line) <= longest for line in lines]
        keys = list(map(self._between, lines if all(alike) else lines[: alike.index(False)]))
        if keys.count(self.key) < len(keys):
            keys = list(takewhile(self.key.__eq__, keys))
        return list(map(self._inside, lines[: len(keys)]))


class Written(NamedTuple):
    """A document with its keys in order and room for what fills its holes."""

    body: bytes
    order: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]
    """Picks what fills the room."""
    probed: dict[str, Any]
    """The document with the probes of its layout in its holes."""


def in_order(layout: Layout, match: Any, document: dict[str, Any], read: Read) -> Written | None:
    """The document with its keys in order.

    None unless the holes of the layout are those of the document: filled with something else, it has to read so.
    """
    probed = _filled(document, layout)
    if not _proves(layout, match.group(*layout.constant), probed, read):
        return None
    written, marks = sorted_bytes(probed), layout.marks
    places = [written.find(mark) for mark in marks]
    if any(written.count(mark) != 1 for mark in marks):
        return None
    order = sorted(range(len(marks)), key=places.__getitem__)
    parts, end = [], 0
    for number in order:
        parts.append(written[end : places[number]])
        end = places[number] + len(marks[number])
    # No byte of JSON is a zero.
    body = b"\0".join([*parts, written[end:]]).replace(b"%", b"%%").replace(b"\0", b"%b")
    return Written(body, itemgetter(*map(layout.places.index, order)), probed)


def _filled(document: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """The document with the probes of its layout in its holes."""
    probed = {**document}
    for hole, probe in zip(layout.holes, layout.probes, strict=True):
        inside = probed
        for name in hole.path[:-1]:
            below = {**inside[name]}
            inside[name], inside = below, below
        inside[hole.path[-1]] = probe
    return probed


def _proves(layout: Layout, key: Key, probed: dict[str, Any], read: Read) -> bool:
    parts = [key[0]]
    for probe, after in zip(layout.probes, key[1:], strict=True):
        parts += (str(probe).encode(), after)
    try:
        return read(unpack(b"".join(parts))) == probed
    except ValueError:
        return False
