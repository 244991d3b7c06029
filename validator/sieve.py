"""Decides fast that a line leaks nothing; whatever it does not decide is left to the exact scan in `redact`.

Two ways lead to the same verdicts. Where the native gate is built (`protocol/gate.py`), one pass over the bytes of a
line excludes every pattern, and most lines are never looked into. Otherwise the strings of a line are collected by the
place they stand in; those that were met before are known to be clean, and the new ones are searched all at once for
the needles that every match holds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

from validator.errors import UsageError
from validator.protocol import gate
from validator.protocol.fastpath import mode
from validator.protocol.honest import is_honest
from validator.readings import layers, lowered, matches

if TYPE_CHECKING:
    from validator.readings import Row
    from validator.redact import Vocabulary

Places = frozenset[str]
Layout = tuple[Places, tuple[tuple[str, str], ...]]
"""Where the texts of an object stand, and its objects and lists, by key."""

SHORT = 256
"""Texts up to this length are remembered once they were looked at; ids come again and again."""
_MOST = 20_000
_PAYS = 60_000
"""Lines after which building the native gate costs less than it saves."""
_PAYS_STORED = 400
"""Lines after which loading a gate that is kept does."""
_MANY = 1_000
"""Texts after which compiling a regex costs less than it saves."""
_BEGINNING = 3
SHAPE = bytes(48 if 48 <= byte < 58 else byte + 32 if 65 <= byte < 91 else byte for byte in range(256))
"""Lower case, and every digit a zero."""
_TELLING = re.compile(rb"[=\\%]")
_VARIABLE_GIVEN = re.compile(r"[A-Z][A-Z0-9_]{1,60}=")
"""Occurs wherever a variable is given a value."""
_KEPT = frozenset({"tool", "output"})
"""Places that what stands inside an object shares with it."""
_GAP = "\n\n"
"""Two ends of lines between texts: a match may take one from either side."""


class Sieve:
    """What is known to be clean in one protocol."""

    def __init__(self, vocabulary: Vocabulary):
        self._vocabulary = vocabulary
        self._mode = mode()
        self._plans: dict[tuple[str, ...], tuple[Spot, ...] | None] = {}
        self._spots: dict[tuple[str, bool], Spot] = {}
        self._layouts: dict[tuple[Any, ...], Layout | None] = {}
        patterns, protocol = vocabulary.patterns, vocabulary.protocol
        self._apart = frozenset(patterns.fields["path"].get("events", ()))
        """Events in which a field is a path because of what stands beside it."""
        self._outputs = frozenset(patterns.output.get(protocol, ()))
        self._alone = {place: frozenset((place,)) for place in ("text", "output")}
        self._gate: gate.Gate | None = None
        self._lines = 0

    def places(self, document: dict[str, Any], kind: str | None, raw: bytes | None = None) -> Places | None:
        """The places of a document's texts when certainly none of them leaks; None decides nothing.

        `raw` is the line that the document was read from.
        """
        if kind in self._apart:
            return None
        free = "output" if kind in self._outputs else "text"
        gated = raw is not None and (self._gate is not None or self._opened())
        if gated:
            found = self._look(raw)
            if found & gate.LEAK:
                return None
            if not found and kind is not None:
                return self._alone[free]
            if not found & gate.ROOTED:
                return self._standing(document, free)
        new: list[tuple[Spot, str]] = []
        spots = self._walk(document, free, new, gated)
        if spots is None or (new and _may_leak(new)):
            return None
        return frozenset([spot.place for spot in spots])

    def free(self, kind: str | None) -> str:
        """The place of a text of an event of a kind, where nothing says otherwise."""
        return "output" if kind in self._outputs else "text"

    def is_clean(self, raw: bytes, free: str, event_id: str, text: str) -> bool:
        """True when certainly neither the id nor the text of an event leaks; `raw` is both in one object."""
        if self._gate is not None or self._opened():
            found = self._look(raw)
            if not found or not (found & gate.LEAK or self._spot(free, False).rooted):
                return True
        spot = self._spot(free, False)
        told = [(self._spot("text", True), event_id), *([] if text in spot.texts else [(spot, text)])]
        return not _may_leak(told)

    def _opened(self) -> bool:
        """Builds the gate when it is asked for or pays; says whether there is one."""
        self._lines += 1
        if self._mode == "off" or (self._mode == "auto" and self._lines not in (_PAYS_STORED, _PAYS)):
            return False
        if not gate.is_available():
            if self._mode == "on":
                raise UsageError("hyperscan is not installed", hint="RUNTIME_VALIDATE_FAST=on demands it")
            return False
        kept, name = self._vocabulary.kept, f"gate/{gate.version()}/{self._vocabulary.protocol}"
        stored = kept.get(name)
        if self._mode == "auto" and stored is None and self._lines == _PAYS_STORED:
            return False
        self._gate = gate.Gate(clues(self._vocabulary), stored)
        if stored is None:
            kept.put(name, self._gate.stored)
        return True

    def _look(self, raw: bytes) -> int:
        found = self._gate.look(raw)
        if found & gate.RANDOM:
            found &= ~gate.RANDOM
            if not found & gate.LEAK and any(is_random(raw, row) for row in self._vocabulary.all_rows if row.loose):
                found |= gate.LEAK
        return found

    def _walk(self, document: dict[str, Any], free: str, new: list[tuple[Spot, str]], gated: bool) -> set[Spot] | None:
        """Where all texts stand, and which of them are not known to be clean; None when a name rules that out.

        After the gate only those count that stand where a row counts that it let pass.
        """
        usual = self._spot(free, False)
        seen: set[Spot] = set()
        waiting: list[tuple[Any, Spot]] = [(document, usual)]
        while waiting:
            value, where = waiting.pop()
            if type(value) is list:
                pairs = zip(value, repeat(where), strict=False)
            elif "honest" in value and is_honest(value):
                pairs = ((value["reason"], usual),)
            else:
                plan = self._plan(value, where.place if where.place in _KEPT else free)
                if plan is None:
                    return None
                pairs = zip(value.values(), plan, strict=True)
            for sub, spot in pairs:
                kind = type(sub)
                if kind is str:
                    seen.add(spot)
                    if (spot.rooted or not gated) and sub not in spot.texts:
                        new.append((spot, sub))
                elif kind is dict or kind is list:
                    waiting.append((sub, spot))
        return seen

    def _standing(self, document: dict[str, Any], free: str) -> Places | None:
        """Where all texts stand; None when a name rules out that they are clean. The texts are not looked at."""
        found: set[str] = set()
        waiting: list[tuple[Any, str]] = [(document, free)]
        while waiting:
            value, place = waiting.pop()
            kind = type(value)
            if kind is str:
                found.add(place)
            elif kind is list:
                waiting += zip(value, repeat(place), strict=False)
            elif kind is dict:
                layout = self._layout(value, place if place in _KEPT else free, free)
                if layout is None:
                    return None
                found |= layout[0]
                for key, inside in layout[1]:
                    waiting.append((value[key], inside))
        return frozenset(found)

    def _layout(self, value: dict[str, Any], inside: str, free: str) -> Layout | None:
        """Where the texts of an object stand, by its keys and the kinds of its values, and where what it holds does."""
        if "honest" in value and is_honest(value):
            return self._alone[free], ()
        key = (inside, *value, *map(type, value.values()))
        try:
            return self._layouts[key]
        except KeyError:
            if len(self._layouts) > _MOST:
                self._layouts.clear()
            plan = self._plan(value, inside)
            found = self._layouts[key] = None if plan is None else _laid_out(value, plan)
            return found

    def _plan(self, value: dict[str, Any], inside: str) -> tuple[Spot, ...] | None:
        """Where the values of an object stand, by its keys; None when a key leaks or names a secret."""
        key = (inside, *value)
        try:
            return self._plans[key]
        except KeyError:
            if len(self._plans) > _MOST:
                self._plans.clear()
            found = self._plans[key] = self._planned(value, inside)
            return found

    def _planned(self, value: dict[str, Any], inside: str) -> tuple[Spot, ...] | None:
        known, spots = self._vocabulary, []
        for name in value:
            kinds = known.kinds(name)
            if "clean" not in kinds or "secret" in kinds or "environment" in kinds:
                return None
            spots.append(self._spot(known.place(kinds, value, inside), "identity" in kinds))
        return tuple(spots)

    def _spot(self, place: str, identity: bool) -> Spot:
        key = (place, identity)
        if key not in self._spots:
            rows = [row for row in self._vocabulary.rows[place] if not (identity and row.kind == "entropy")]
            self._spots[key] = Spot(place, rows)
        return self._spots[key]


def _laid_out(value: dict[str, Any], plan: tuple[Spot, ...]) -> Layout:
    pairs = [(name, type(sub), spot.place) for (name, sub), spot in zip(value.items(), plan, strict=True)]
    texts = frozenset(place for _, kind, place in pairs if kind is str)
    return texts, tuple((name, place) for name, kind, place in pairs if kind is dict or kind is list)


class Spot:
    """A kind of place with the rows that count there, and texts that none of them matches.

    What identifies something is told from other texts of its place: it may look random.
    """

    def __init__(self, place: str, rows: list[Row]):
        self.place = place
        self._rows = [row for row in rows if row.needles]
        self._bare = [row for row in rows if not row.needles]
        self.rooted = not all(row.in_text for row in rows)
        """True when a row counts here that does not count in free text."""
        needles = frozenset(needle for row in self._rows for needle in row.needles)
        self._needles = finder(needles)
        self.texts: set[str] = set()
        self._shapes: set[bytes] = set()

    def knows(self, text: str) -> bool:
        """True for a text that holds no needle, or differs only in digits from one that was looked at."""
        if self._bare or len(text) > SHORT or not text.isascii():
            return False
        shape = text.encode().translate(SHAPE)
        if shape in self._shapes:
            return True
        if _TELLING.search(shape) or self._needles.occur_in(shape.replace(b"://", b":")):
            return False
        keep(self._shapes, shape)
        return True

    def may_leak(self, texts: list[str]) -> bool:
        """False when certainly no text leaks; then they are remembered."""
        whole = _GAP.join(texts)
        read = layers(whole)
        low = lowered(read)
        if self._needles.occur_in(shaped(low)):
            rows = [row for row in self._rows if row.may_match(low)]
            if any(matches(text, rows) for text in texts):
                return True
        if "=" in read and _VARIABLE_GIVEN.search(read):
            return True
        if read != whole:
            bare = any(matches(text, self._bare) for text in texts)
        else:
            bare = any(next(row.spans(whole, low), None) for row in self._bare)
        if not bare:
            for text in texts:
                if len(text) <= SHORT:
                    keep(self.texts, text)
        return bare


def _may_leak(new: list[tuple[Spot, str]]) -> bool:
    """False when certainly none of these texts leaks."""
    unknown: dict[Spot, list[str]] = {}
    for spot, text in new:
        if not spot.knows(text):
            unknown.setdefault(spot, []).append(text)
    return any(spot.may_leak(texts) for spot, texts in unknown.items())


def shaped(text: str) -> bytes:
    """A text in lower case and with zeros for digits, as needles are looked for."""
    return text.encode("utf-8", "surrogatepass").translate(SHAPE)


class Needles:
    """Words that are looked for in shaped texts: by how they begin at first, by a regex when there are many texts."""

    def __init__(self, words: Collection[str]):
        self._words = sorted({word.encode().translate(SHAPE) for word in words})
        self._short = [word for word in self._words if len(word) < _BEGINNING]
        self._begun: dict[tuple[int, ...], list[bytes]] = {}
        """Longer words by their first three letters."""
        for word in self._words:
            if len(word) >= _BEGINNING:
                self._begun.setdefault(tuple(word[:_BEGINNING]), []).append(word)
        self._regex: re.Pattern[bytes] | None = None
        self._asked = 0

    def occur_in(self, shape: bytes) -> bool:
        """True when one of them stands in a text."""
        if self._regex is not None:
            return self._regex.search(shape) is not None
        self._asked += 1
        if self._asked == _MANY:
            self._regex = re.compile(any_of({word.decode() for word in self._words}).encode())
        for word in self._short:
            if word in shape:
                return True
        begun = self._begun.keys() & zip(shape, shape[1:], shape[2:], strict=False)
        return any(word in shape for letters in begun for word in self._begun[letters])


@functools.cache
def finder(needles: frozenset[str]) -> Needles:
    """The needles of a place; places that share them share what finds them."""
    return Needles(needles)


def any_of(words: Collection[str]) -> str:
    """A regex for any of some words, by their common beginnings: the engine tries a branch per letter, not per word."""
    if "" in words:
        return ""
    letters = sorted({word[0] for word in words})
    parts = [re.escape(letter) + any_of({word[1:] for word in words if word[0] == letter}) for letter in letters]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def keep(known: set[Any], entry: Any) -> None:
    if len(known) > _MOST:
        known.clear()
    known.add(entry)


def clues(vocabulary: Vocabulary) -> Iterator[gate.Clue]:
    """What the bytes of a line are searched for, from the patterns of a protocol."""
    for row in vocabulary.all_rows:
        if row.loose:
            yield gate.RANDOM, row.loose
        else:
            yield from gate.text_clues(gate.LEAK if row.in_text else gate.ROOTED, (row.pattern,))
    yield gate.LEAK, "[A-Z][A-Z0-9_]+="
    yield gate.key_clue(vocabulary.telling_words())


_RUN = re.compile(rb"[A-Za-z0-9+_-]{24,}={0,2}")


def is_random(raw: bytes, row: Row) -> bool:
    """True unless a row that goes by randomness certainly finds nothing in a line."""
    for run in _RUN.finditer(raw):
        start = run.start()
        if raw[start - 5 : start] == b'id":"' and raw[start - 6 : start - 5] == b"_":
            continue
        if raw[start - 5 : start] == b'Id":"':
            continue
        word = run.group().decode()
        if raw[start - 1 : start] == b"\\" or row.finds(word) or row.finds(word.rstrip("=")):
            return True
    return False
