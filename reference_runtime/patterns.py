"""What counts as a leak: the rows of the contract's pattern tables, and where they match in a text.

The tables are data (`schemas/common/1`); this reading of them is the runtime's own. A text is looked at as it stands
and with escapes undone, layer by layer, so that `%2Fhome` and `\\u002fhome` hide nothing.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reference_runtime.contract import CORE, protocol
from validator.protocol.definition import read_definition

_LAYERS = 3
_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})|\\([\"\\/bfnrt])|%([0-9A-Fa-f]{2})")
_CONTROL = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NEGATED = re.compile(r"\[\^(?:\\.|[^\]\\])*\]")
Span = tuple[int, int, str]
"""Beginning and end of a leak, and its kind: `path`, `secret` or `entropy`."""


@dataclass(frozen=True, slots=True)
class Row:
    """One shape of a leak."""

    kind: str
    regex: re.Pattern[str]
    needles: tuple[str, ...]
    unless: re.Pattern[str] | None
    not_after: re.Pattern[str] | None
    bits: float
    places: frozenset[str]
    """Where it counts: in `text`, where a `path` stands, where a `reference` stands."""
    crosses: bool
    """It can reach over the end of a line."""

    def may_match(self, lowered: str) -> bool:
        """False when nothing of what the row is about occurs; a plain loop, because it is asked of every text."""
        for needle in self.needles:
            if needle in lowered:
                return True
        return not self.needles

    def hits(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the row matches: its first group that took part."""
        for match in self.regex.finditer(text):
            start, end = next((span for span in match.regs[1:] if span != (-1, -1)), match.span())
            before, value = text[max(0, start - 40) : start], text[start:end]
            excused = (self.unless and self.unless.search(value)) or (self.not_after and self.not_after.search(before))
            if value and not excused and (not self.bits or _bits(value) >= self.bits):
                yield start, end


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows that count for this protocol, and the names of fields that say what they hold."""

    rows: tuple[Row, ...]
    names: dict[str, dict[str, Any]]
    """By what a field holds (`path`, `reference`, `secret`, `identity`): the words that its name ends with."""
    markers: re.Pattern[str]
    harmless: frozenset[str]
    crossing: tuple[str, ...]
    """Words with which a leak that reaches over a line's end begins."""
    secret_variables: tuple[str, ...]
    """Parts of the names of environment variables that hold secrets."""


@functools.cache
def tables() -> Tables:
    """Both tables, read once."""
    store = protocol().store
    folder = store.root / "common" / "1"
    paths, secrets = (
        read_definition(folder / f"{name}-patterns.yaml", "patterns", store) for name in ("path", "secret")
    )
    rows = [_row(entry, data["weights"]) for data in (paths, secrets) for entry in data["rows"]]
    rows = [row for row in rows if row.places]
    crossing = {needle for row in rows if row.crosses for needle in row.needles}
    return Tables(
        rows=tuple(rows),
        names={**paths["fields"], **secrets["fields"]},
        markers=re.compile(secrets["markers"], re.IGNORECASE),
        harmless=frozenset(secrets["vocabulary"]),
        crossing=tuple(sorted(crossing)),
        secret_variables=tuple(secrets["environment"]["secret"]),
    )


def _row(entry: dict[str, Any], weights: dict[str, Any]) -> Row:
    regex, levels = entry["regex"], weights[entry["weight"]]["levels"].get(CORE.name, {})
    return Row(
        kind={"path": "path", "entropy": "entropy"}.get(entry["kind"], "secret"),
        regex=re.compile(regex),
        needles=tuple(entry.get("needles", ())),
        unless=re.compile(entry["unless"]) if "unless" in entry else None,
        not_after=re.compile(entry["not_after"]) if "not_after" in entry else None,
        bits=entry.get("bits", 0),
        # A parent step or a backslash is not hidden by cutting it out of its path.
        places=frozenset(levels if entry["kind"] not in {"escape", "backslash"} else ()),
        crosses=entry["kind"] != "path" and any(word in _NEGATED.sub("", regex) for word in (r"\s", r"\n")),
    )


def leaks(text: str, place: str = "text", *, guesses: bool = True) -> list[Span]:
    """Every leak in a text that stands in a place; what only looks random counts when guesses do."""
    found: list[Span] = []
    rows, words = _rows(place, guesses)
    if "%" not in text and "\\" not in text and not words.search(text.lower()):
        rows = [row for row in rows if not row.needles]
    for layer, places in _layers(text):
        lowered = layer.lower()
        for row in rows:
            if not row.may_match(lowered):
                continue
            for start, end in row.hits(layer):
                first, last = (places[start], places[end]) if places else (start, end)
                if all(last <= begun or ended <= first for begun, ended, _ in found):
                    found.append((first, last, row.kind))
    return sorted(found)


def may_leak(texts: list[str]) -> bool:
    """False when certainly none of these texts holds a leak, whatever its place; one look at all of them."""
    words, rows = _gate()
    if words.search("\n".join(texts).lower()):
        return True
    for regex, least in rows:
        for text in texts:
            if len(text) >= least and regex.search(text):
                return True
    return False


@functools.cache
def _gate() -> tuple[re.Pattern[str], list[tuple[re.Pattern[str], float]]]:
    """Every word that a row needs or an escape begins with, and the rows that need none, with the shortest text."""
    words = {"%", "\\", *(needle for row in tables().rows for needle in row.needles)}
    # No text has more bits per character than its length allows.
    return _any_of(words), [(row.regex, 2**row.bits) for row in tables().rows if not row.needles]


@functools.cache
def _rows(place: str, guesses: bool) -> tuple[list[Row], re.Pattern[str]]:
    """The rows that count in a place, and every word that one of them needs."""
    rows = [row for row in tables().rows if place in row.places and (guesses or not row.bits)]
    return rows, _any_of({needle for row in rows for needle in row.needles})


def _any_of(words: set[str]) -> re.Pattern[str]:
    """Finds a text that holds one of some words; a word that holds another one needs no look of its own."""
    shortest = [word for word in words if not any(other in word for other in words - {word})]
    return re.compile(_branches(sorted(shortest)))


def _branches(words: list[str]) -> str:
    """Words that begin alike share their beginning, so that few of them are tried at each place."""
    ends: dict[str, list[str]] = {}
    for word in words:
        ends.setdefault(word[0], []).append(word[1:])
    return "|".join(re.escape(sign) + (f"(?:{_branches(rest)})" if all(rest) else "") for sign, rest in ends.items())


def _layers(text: str) -> Iterator[tuple[str, list[int] | None]]:
    """A text, then the same with one layer of escapes after the other undone, and where its characters stood."""
    yield text, None
    places = None
    for _ in range(_LAYERS):
        if "\\" not in text and "%" not in text:
            return
        text, places, changed = _undone(text, places or list(range(len(text) + 1)))
        if not changed:
            return
        yield text, places


def _undone(text: str, places: list[int]) -> tuple[str, list[int], bool]:
    parts, kept, end = [], [], 0
    for match in _ESCAPED.finditer(text):
        parts += [text[end : match.start()], _character(match)]
        kept += [*places[end : match.start()], places[match.start()]]
        end = match.end()
    return "".join([*parts, text[end:]]), kept + places[end:], end > 0


def _character(match: re.Match[str]) -> str:
    code, control, percent = match.groups()
    return _CONTROL.get(control, control) if control is not None else chr(int(code or percent, 16))


def _bits(text: str) -> float:
    """How surprising a character of a text is."""
    shares = [text.count(char) / len(text) for char in set(text)]
    return -sum(share * math.log2(share) for share in shares)
