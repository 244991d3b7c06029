"""Decides fast that a line leaks nothing; whatever it does not decide is left to the exact scan in `redact`.

Where the texts of a line stand follows from its layout (`protocol/glance.py`), so it is worked out once per layout. A
text that was met before in such a place is known to be harmless, and so is one that differs from it in digits only;
of any other one it is asked whether it holds a needle, for every match holds one. What is left is searched by one pass
over the bytes of the line where the native gate is built (`protocol/gate.py`), and otherwise text by text.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from validator.errors import UsageError
from validator.protocol import gate
from validator.protocol.fastpath import mode
from validator.protocol.glance import glance
from validator.protocol.honest import is_honest
from validator.protocol.regex import any_of, compiled, is_anchored
from validator.readings import are_matched, layers, lowered
from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

    from validator.readings import Row
    from validator.redact import Vocabulary

Places = frozenset[str]

SHORT = 256
"""Texts up to this length are remembered once they were looked at; ids come again and again."""
_LONG = 2_048
"""Texts beyond this length are searched by the gate, if there is one."""
_MOST = 20_000
_PAYS = 60_000
"""Lines with a text that is not known after which building the native gate costs less than it saves."""
_PAYS_STORED = 400
"""Lines after which loading a gate that is kept does."""
_SEVERAL = 4
"""Words of a text from which on it costs less to look them up than to search it."""
SHAPE = bytes(48 if 48 <= byte < 58 else byte + 32 if 65 <= byte < 91 else byte for byte in range(256))
"""Lower case, and every digit a zero."""
_LOWER = bytes(byte + 32 if 65 <= byte < 91 else byte for byte in range(256))
_TELLING = rb"\\|%[0-9a-f]{2}|\xc4\xb0|\xe2\x84\xaa"
"""An escape, or one of the two letters beyond ASCII whose lower case is written with an ASCII letter."""
_VARIABLE_GIVEN = r"[A-Z][A-Z0-9_]{1,60}="
"""Occurs wherever a variable is given a value."""
_RUN = rb"[A-Za-z0-9+_-]{24,}={0,2}"
"""Occurs wherever a word looks random, whatever its case and its digits are."""
_KEPT = frozenset({"tool", "output"})
"""Places that what stands inside an object shares with it."""
_GAP = "\n\n"
"""Two ends of lines between texts: a match may take one from either side."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the texts of a document stand, in the order of a glance at it."""

    spots: tuple[Spot, ...]
    places: Places


class Sieve:
    """What is known to be clean in one protocol."""

    def __init__(self, vocabulary: Vocabulary):
        self._vocabulary = vocabulary
        self._mode = mode()
        self._spots: dict[tuple[str, bool], Spot] = {}
        self._named: defaultdict[str, dict[str, Spot]] = defaultdict(dict)
        """By where an object stands, names to where their values stand."""
        patterns, protocol = vocabulary.patterns, vocabulary.protocol
        self._apart = frozenset(patterns.fields["path"].get("events", ()))
        """Events in which a field is a path because of what stands beside it."""
        self._outputs = frozenset(patterns.output.get(protocol, ()))
        self._marks = (object(), object())
        """What plans are remembered by, of other events and of those that are output."""
        self._gate: gate.Gate | None = None
        self._lines = 0

    def calm(self, document: dict[str, Any], kind: str | None) -> Places | None:
        """The places of a document's texts when all are known to leak and to hide nothing; None decides nothing."""
        plan, texts = self._plan(document, kind)
        if plan is None:
            return None
        for text, spot in zip(texts, plan.spots, strict=True):
            if text not in spot.texts and not spot.knows(text):
                return None
        return plan.places

    def places(self, document: dict[str, Any], kind: str | None, raw: bytes | None = None) -> Places | None:
        """The places of a document's texts when certainly none of them leaks; None decides nothing.

        `raw` is the line that the document was read from.
        """
        plan, texts = self._plan(document, kind)
        if plan is None:
            return None
        new = _unknown(zip(plan.spots, texts, strict=True))
        if new and raw is not None and (self._gate is not None or self._opened()):
            found = self._look(raw)
            if found & gate.LEAK:
                return None
            # Of the rest only those count that stand where a row counts that it let pass.
            new = [pair for pair in new if pair[0].rooted] if found & gate.ROOTED else []
        return None if _may_leak(new) else plan.places

    def spot(self, document: dict[str, Any], kind: str | None, text: str) -> Spot | None:
        """Where a text stands that a document holds once; None where names rule out that it is known to be clean."""
        plan, texts = self._plan(document, kind)
        return None if plan is None else plan.spots[texts.index(text)]

    def free(self, kind: str | None) -> str:
        """The place of a text of an event of a kind, where nothing says otherwise."""
        return "output" if kind in self._outputs else "text"

    def is_clean(self, raw: bytes, free: str, event_id: str, text: str) -> bool:
        """True when certainly neither the id nor the text of an event leaks; `raw` is both in one object."""
        spot = self._spot(free, False)
        if self._gate is not None or self._opened():
            found = self._look(raw)
            if not found & gate.LEAK and not (found & gate.ROOTED and spot.rooted):
                return True
        told = ((self._spot("text", True), event_id), (spot, text))
        return not _may_leak(_unknown(told))

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

    def _plan(self, document: dict[str, Any], kind: str | None) -> tuple[Plan | None, list[str]]:
        """Where the texts of a document stand, and the texts; no plan when a name rules out that they are clean."""
        if self._mode == "on" and self._gate is None:
            self._opened()
        if kind in self._apart:
            return None, []
        _, texts, layout = glance(document)
        mark = self._marks[kind in self._outputs]
        try:
            return layout.answers[mark], texts
        except KeyError:
            found = layout.answers[mark] = self._planned(document, self.free(kind))
            return found, texts

    def _planned(self, document: dict[str, Any], free: str) -> Plan | None:
        """The plan of a document; it follows from its layout, because values matter only in honest statements."""
        usual = self._spot(free, False)
        spots: list[Spot] = []
        waiting: list[tuple[Any, Spot]] = [(document, usual)]
        while waiting:
            value, where = waiting.pop()
            if type(value) is list:
                pairs = [(sub, where) for sub in value]
            elif is_honest(value):
                pairs = [(sub, usual) for sub in value.values()]
            else:
                inside = where.place if where.place in _KEPT else free
                standing = self._standing(value, inside)
                if standing is None:
                    return None
                pairs = list(zip(value.values(), standing, strict=True))
            spots += [spot for sub, spot in pairs if type(sub) is str]
            waiting += [(sub, spot) for sub, spot in pairs if type(sub) in (dict, list)]
        return Plan(tuple(spots), frozenset([spot.place for spot in spots]))

    def _standing(self, value: dict[str, Any], inside: str) -> list[Spot] | None:
        """Where the values of an object stand, by its keys; None when a key leaks or names a secret."""
        named = self._named[inside]
        try:
            return [named[name] for name in value]
        except KeyError:  # a name that is new here, that hangs on those beside it, or that rules out that all is clean
            return self._asked(value, inside, named)

    def _asked(self, value: dict[str, Any], inside: str, named: dict[str, Spot]) -> list[Spot] | None:
        """The same, name by name; where a name stands whatever is beside it is remembered."""
        known, spots = self._vocabulary, []
        for name in value:
            spot = named.get(name)
            if spot is None:
                kinds = known.kinds(name)
                if "clean" not in kinds or "secret" in kinds or "environment" in kinds:
                    return None
                spot = self._spot(known.place(kinds, value, inside), "identity" in kinds)
                if "path?" not in kinds and len(named) < _MOST:
                    named[name] = spot
            spots.append(spot)
        return spots

    def _spot(self, place: str, identity: bool) -> Spot:
        key = (place, identity)
        if key not in self._spots:
            rows = [row for row in self._vocabulary.rows[place] if not (identity and row.kind == "entropy")]
            self._spots[key] = Spot(place, rows, self._vocabulary.hides)
        return self._spots[key]


class Spot:
    """A kind of place with the rows that count there, and texts that none of them matches and that hide nothing.

    What identifies something is told from other texts of its place: it may look random.
    """

    def __init__(self, place: str, rows: list[Row], hides: Callable[[str], bool]):
        self.place = place
        self._hides = hides
        self._rows = [row for row in rows if row.needles]
        self._bare = [row for row in rows if not row.needles]
        self.rooted = not all(row.in_text for row in rows)
        """True when a row counts here that does not count in free text."""
        self._first = [row.pattern for row in self._rows if is_anchored(row.pattern)]
        """What is found at the beginning of a text or not at all: cheaper to look for than its needles."""
        later = frozenset([needle for row in self._rows if not is_anchored(row.pattern) for needle in row.needles])
        self._later = finder(later, exact=True)
        self._numbered = numbered(later)
        """Finds the needles of which a shape does not tell all: those with digits."""
        self._telling, self._run = compiled(_TELLING).search, compiled(_RUN).search
        self._begins: Callable[[str], Any] | None = None
        self._parts = finder(_longest_parts(later))
        self.texts: set[str] = set()
        self._shapes: set[bytes] = set()
        self._words: set[bytes] = set()

    @functools.cached_property
    def _needles(self) -> Needles:
        return finder(frozenset([needle for row in self._rows for needle in row.needles]), exact=True)

    def knows(self, text: str) -> bool:
        """True for a text that was not met before when it certainly leaks and hides nothing.

        That is so when it holds no needle, differs only in digits from one that was looked at, or is made of words that
        came before.
        """
        if len(text) > _LONG or (self._first and self._may_begin(text)):
            return False
        written = text.encode("utf-8", "surrogatepass")
        shape = written.translate(SHAPE)
        if shape not in self._shapes:
            if not self._is_made_of_words(shape) and self._tells(written.translate(_LOWER)):
                return False
            if len(shape) <= SHORT and self._numbered.search(shape) is None:
                keep(self._shapes, shape)
        if len(text) <= SHORT:
            keep(self.texts, text)
        return True

    def _may_begin(self, text: str) -> bool:
        if self._begins is None:
            self._begins = compiled("|".join(map(_scoped, self._first))).match
        return self._begins(text) is not None

    def _is_made_of_words(self, shape: bytes) -> bool:
        """True for the shape of a text of several words that came before, or hold nothing that a row goes by.

        Whatever a row goes by holds no space, or else the longest part of it that holds none is looked for.
        """
        words = shape.split()
        if len(words) < _SEVERAL:
            return False
        if not self._words.issuperset(words):
            new = [word for word in words if word not in self._words]
            if self._goes_by(b" ".join(new), self._parts):
                return False
            for word in new:
                if len(word) <= SHORT:
                    keep(self._words, word)
        return not self._spans(shape)

    def _tells(self, low: bytes) -> bool:
        """True unless a text in lower case certainly holds nothing that a row goes by, and hides nothing."""
        return self._goes_by(low, self._later) or self._spans(low)

    def _goes_by(self, low: bytes, needles: Needles) -> bool:
        """True when a text in lower case may hold an escape, a needle or a random word."""
        return (
            self._telling(low) is not None
            or needles.occur_in(low.replace(b"://", b":"))
            or (bool(self._bare) and self._run(low) is not None)
        )

    def _spans(self, low: bytes) -> bool:
        """True when a text as a whole may give values to variables, line by line, or says that something is hidden."""
        return (b"=" in low and b"\n" in low) or self._hides(low.decode("utf-8", "surrogatepass"))

    def may_leak(self, texts: list[str]) -> bool:
        """False when certainly no text leaks; then they are remembered."""
        whole = _GAP.join(texts)
        read = layers(whole)
        low = lowered(read)
        if self._needles.occur_in(low.encode("utf-8", "surrogatepass")):
            rows = [row for row in self._rows if row.may_match(low)]
            if any(are_matched(text, rows) for text in texts):
                return True
        if "=" in read and compiled(_VARIABLE_GIVEN).search(read):
            return True
        if read != whole:
            bare = any(are_matched(text, self._bare) for text in texts)
        else:
            bare = any(next(row.spans(whole, low), None) for row in self._bare)
        if not bare:
            for text in texts:
                if len(text) <= SHORT and not self._hides(text):
                    keep(self.texts, text)
        return bare


def _unknown(told: Iterable[tuple[Spot, str]]) -> list[tuple[Spot, str]]:
    return [(spot, text) for spot, text in told if text not in spot.texts and not spot.knows(text)]


def _may_leak(new: list[tuple[Spot, str]]) -> bool:
    """False when certainly none of these texts leaks."""
    unknown: dict[Spot, list[str]] = {}
    for spot, text in new:
        unknown.setdefault(spot, []).append(text)
    return any(spot.may_leak(texts) for spot, texts in unknown.items())


def _scoped(pattern: str) -> str:
    """A regex that can be one of several: whether it ignores case is said of it alone."""
    return f"(?i:{pattern[4:]})" if pattern.startswith("(?i)") else f"(?:{pattern})"


def shaped(text: str) -> bytes:
    """A text in lower case and with zeros for digits, as needles are looked for."""
    return text.encode("utf-8", "surrogatepass").translate(SHAPE)


class Needles:
    """Words that are looked for in shaped texts, or in exact ones in lower case."""

    def __init__(self, words: Collection[str], exact: bool = False):
        self._words, self._exact = words, exact
        self._search: Callable[[bytes], object] | None = None
        """Made when it is first asked for, because some words are never looked for."""

    def occur_in(self, shape: bytes) -> bool:
        """True when one of them stands in a text."""
        if self._search is None:
            spelt = _LOWER if self._exact else SHAPE
            words = frozenset([word.encode().translate(spelt).decode() for word in self._words])
            self._search = compiled(any_of(words).encode()).search
        return self._search(shape) is not None


@functools.cache
def _longest_parts(needles: frozenset[str]) -> frozenset[str]:
    return frozenset([max(needle.split(), key=len) for needle in needles])


@functools.cache
def numbered(needles: frozenset[str]) -> re.Pattern[bytes]:
    """A regex for the shapes of those needles that hold a digit."""
    shapes = {needle.encode().translate(SHAPE).decode() for needle in needles}
    return compiled(any_of(frozenset([shape for shape in shapes if "0" in shape])).encode())


@functools.cache
def finder(needles: frozenset[str], exact: bool = False) -> Needles:
    """The needles of a place; places that share them share what finds them."""
    return Needles(needles, exact)


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


def is_random(raw: bytes, row: Row) -> bool:
    """True unless a row that goes by randomness certainly finds nothing in a line."""
    for run in compiled(_RUN).finditer(raw):
        start = run.start()
        if raw[start - 5 : start] == b'id":"' and raw[start - 6 : start - 5] == b"_":
            continue
        if raw[start - 5 : start] == b'Id":"':
            continue
        word = run.group().decode()
        if raw[start - 1 : start] == b"\\" or row.finds(word) or row.finds(word.rstrip("=")):
            return True
    return False
