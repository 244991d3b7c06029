"""Rows of patterns, and where they match a text: as it is, and as it reads once escapes are undone.

A string is looked at as it is and as it reads once JSON escapes and percent signs are undone, so that `\\u002fhome` and
`%2Fhome` hide nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from validator.protocol.regex import compiled
from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_ROUNDS = 3
"""How many layers of escapes are undone."""


@dataclass(frozen=True, slots=True)
class Row:
    """One pattern with its weight per protocol and place."""

    id: str
    kind: str
    what: str
    pattern: str
    needles: tuple[str, ...]
    unless_pattern: str | None
    not_after_pattern: str | None
    bits: float
    loose: str | None
    """For a row without needles: a regex over bytes that matches wherever the row finds something."""
    levels: dict[str, dict[str, str]]
    hit: tuple[str, ...]
    near: tuple[str, ...]

    @property
    def regex(self) -> re.Pattern[str]:
        """What it looks for; compiled when it is first asked, because most rows of a run never are."""
        return compiled(self.pattern)

    @property
    def unless(self) -> re.Pattern[str] | None:
        return compiled(self.unless_pattern) if self.unless_pattern else None

    @property
    def not_after(self) -> re.Pattern[str] | None:
        return compiled(self.not_after_pattern) if self.not_after_pattern else None

    def level(self, protocol: str, place: str) -> str | None:
        return self.levels.get(protocol, {}).get(place)

    @property
    def in_text(self) -> bool:
        """True when it counts in free text somewhere; other rows count only where a path or a reference stands."""
        return any("text" in places for places in self.levels.values())

    def may_match(self, lowered: str) -> bool:
        """False when none of its needles occurs; a plain loop, because it is asked of every line."""
        for needle in self.needles:
            if needle in lowered:
                return True
        return not self.needles

    def spans(self, text: str, lowered: str) -> Iterator[tuple[int, int]]:
        """Where it matches, by its first group."""
        if not self.may_match(lowered):
            return
        regex = self.regex
        for match in regex.finditer(text):
            if regex.groups < 2:
                group = match.lastindex or 0
            else:
                group = next((index for index in range(1, regex.groups + 1) if match.group(index) is not None), 0)
            start, end = match.span(group)
            if self.not_after_pattern and self.not_after.search(text[max(0, start - 40) : start]):
                continue
            if self.finds(text[start:end]):
                yield start, end

    def finds(self, word: str) -> bool:
        """True when what the regex matched counts."""
        if self.unless_pattern and self.unless.search(word):
            return False
        return not self.bits or entropy(word) >= self.bits


def entropy(text: str) -> float:
    """Bits per character, by how often each occurs."""
    counts = (text.count(char) / len(text) for char in set(text))
    return -sum(share * math.log2(share) for share in counts)


_ESCAPE = r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))|%([0-9a-fA-F]{2})"
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is or decoded, and where each of its characters stands in the original."""

    text: str
    offsets: tuple[int, ...] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        return (start, end) if self.offsets is None else (self.offsets[start], self.offsets[end])


def readings(text: str) -> Iterator[Reading]:
    """A text as it is, then with one layer of escapes after the other undone."""
    reading = Reading(text)
    yield reading
    for _ in range(_ROUNDS):
        if "\\" not in reading.text and "%" not in reading.text:
            return
        decoded = _decode(reading)
        if decoded.text == reading.text:
            return
        reading = decoded
        yield reading


def layers(text: str) -> str:
    """All readings of a text in one, for looking up needles."""
    found = [text]
    while len(found) <= _ROUNDS and ("\\" in found[-1] or "%" in found[-1]):
        decoded = compiled(_ESCAPE).sub(_character, found[-1])
        if decoded == found[-1]:
            break
        found.append(decoded)
    return "\0".join(found)


def lowered(text: str) -> str:
    """A text for looking up needles. What remains of `:/` is a drive; addresses are far more common."""
    return text.lower().replace("://", ":")


def _decode(reading: Reading) -> Reading:
    parts: list[str] = []
    offsets: list[int] = []
    old = reading.offsets or range(len(reading.text) + 1)
    end = 0
    for match in compiled(_ESCAPE).finditer(reading.text):
        parts.append(reading.text[end : match.start()])
        offsets += old[end : match.start()]
        parts.append(_character(match))
        offsets.append(old[match.start()])
        end = match.end()
    parts.append(reading.text[end:])
    offsets += old[end:]
    return Reading("".join(parts), tuple(offsets))


def _character(match: re.Match[str]) -> str:
    code, short, percent = match.groups()
    if short is not None:
        return _SHORT.get(short, short)
    return chr(int(code or percent, 16))


@dataclass(frozen=True, slots=True)
class Match:
    """A row that matches, by its place in the original text."""

    row: Row
    start: int
    end: int


def are_matched(text: str, rows: Iterable[Row]) -> bool:
    """True when a row claims any place of a text; one that leaks everywhere is not read to its end."""
    possible = _possible(text, rows)
    for reading in readings(text) if possible else ():
        low = reading.text.lower()
        if any(next(row.spans(reading.text, low), None) for row in possible):
            return True
    return False


def first_matches(text: str, rows: Iterable[Row]) -> list[Match]:
    """What `matches` finds, of each row at least the first place; a text in which one row claims all is soon read."""
    possible = _possible(text, rows)
    if "\\" in text or "%" in text:
        return matches(text, possible)
    low = text.lower()
    firsts = [(row, span) for row in possible if (span := next(row.spans(text, low), None))]
    if len(firsts) == 1:
        ((row, span),) = firsts
        return [Match(row, *span)]
    return matches(text, [row for row, _ in firsts])


def _possible(text: str, rows: Iterable[Row]) -> list[Row]:
    """The rows of which a needle occurs in a text, decoded or not."""
    whole = layers(text).lower()
    return [row for row in rows if row.may_match(whole)]


def matches(text: str, rows: Iterable[Row]) -> list[Match]:
    """Every place a row claims; where two overlap, the row that is listed first has it."""
    found: list[Match] = []
    possible = _possible(text, rows)
    if not possible:
        return found
    starts: list[int] = []
    ends: list[int] = []
    for reading in readings(text):
        low = reading.text.lower()
        for row in possible:
            for span in row.spans(reading.text, low):
                start, end = reading.original(*span)
                # What was claimed does not overlap, so both lists are in order and one neighbour tells of all.
                place = bisect_left(starts, end)
                if place == 0 or ends[place - 1] <= start:
                    starts.insert(place, start)
                    ends.insert(place, end)
                    found.append(Match(row, start, end))
    return found
