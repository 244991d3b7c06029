"""Finds what must not be seen in a document, string by string."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from validator.protocol.honest import is_honest
from validator.protocol.protocol import Protocol
from validator.protocol.regex import compiled
from validator.readings import Match, Row, first_matches, layers, lowered, readings
from validator.records import dataclass
from validator.redact.masking import Segments, canary_forms, masked_pointer
from validator.redact.names import vocabulary, words_of
from validator.redact.patterns import hides, load_patterns
from validator.sieve import shaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SECRET_KINDS = ("url", "secret")
PATH_KINDS = ("path", "escape", "backslash")
_MEMO = 64
"""Texts up to this length are remembered once they were looked at; ids come again and again."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that must not be seen, told by where it stands and what it is; never by its value."""

    pointer: str
    """Its place; a key that leaks is masked in it."""
    kind: str
    """path, escape, backslash, secret, url, environment, entropy, named, or canary."""
    row: str
    what: str
    level: str
    place: str
    length: int
    in_key: bool = False
    segments: Segments = ()

    def __repr__(self) -> str:
        return f"Leak({self.text})"  # the keys on the way to it may leak too

    @property
    def text(self) -> str:
        """What a finding says: the kind of thing and its length."""
        where = " in a key" if self.in_key else ""
        return f"{self.what}{where}, {self.length} characters"


@dataclass(frozen=True, slots=True)
class Survey:
    """All leaks of a document, and the places that were looked at."""

    leaks: tuple[Leak, ...]
    places: frozenset[str]


@dataclass(frozen=True, slots=True)
class Spot:
    """A string of a document: where it stands, and what kind of field holds it."""

    segments: Segments
    text: str
    place: str
    name: str
    in_key: bool = False


@functools.cache
def clean(places: frozenset[str]) -> Survey:
    """The survey of a document without leaks, by the places of its texts; there are few kinds of places."""
    return Survey((), places)


def scan(document: Any, protocol: Protocol, canaries: Iterable[str] = ()) -> Iterator[Leak]:
    """Every leak in a line of a capture, keys and values, in the order they stand."""
    yield from survey(document, protocol, canaries).leaks


def survey(document: Any, protocol: Protocol, canaries: Iterable[str] = (), raw: bytes | None = None) -> Survey:
    """Every leak in a line of a capture, and what was looked at; `raw` is the line as it was read."""
    words = tuple(canaries)
    if not words and isinstance(document, dict):
        places = vocabulary(protocol).sieve.places(document, kind_of(document, protocol), raw)
        if places is not None:
            return clean(places)
    return exact_survey(document, protocol, words)


def kind_of(document: dict[str, Any], protocol: Protocol) -> str | None:
    """The type of an event; None for a record."""
    return None if "record" in document else protocol.type_of(document)


def exact_survey(document: Any, protocol: Protocol, canaries: tuple[str, ...] = ()) -> Survey:
    """The same, found by looking at every string for itself."""
    return _Scanner(protocol, canaries).run(document)


@functools.lru_cache(maxsize=1 << 14)
def _is_marker(text: str) -> bool:
    return bool(load_patterns().markers.fullmatch(text.strip()))


def is_marker(value: Any) -> bool:
    """True for a value that says that something was hidden."""
    if isinstance(value, str):
        return _is_marker(value) if len(value) <= _MEMO else bool(load_patterns().markers.fullmatch(value.strip()))
    return is_honest(value) and "redact" in value["reason"].lower()


_plain: set[str | bytes] = set()
"""Short texts that say nothing about hiding, and what is left of them without case and digits: no marker has any."""
_PLAIN_KEPT = 20_000


def may_hide(texts: list[str]) -> bool:
    """True when one of some texts, an honest reason among them, may say that something is hidden."""
    for text in [text for text in texts if text not in _plain]:
        shape = shaped(text)
        if shape not in _plain:
            if hides(text):
                return True
            if len(_plain) > _PLAIN_KEPT:
                _plain.clear()
            if len(text) <= _MEMO:
                _plain.add(shape)
        if len(text) <= _MEMO:
            _plain.add(text)
    return False


class _Scanner:
    """One document's walk: collects its strings, then asks only the rows that can match."""

    def __init__(self, protocol: Protocol, canaries: tuple[str, ...]):
        self.vocabulary = vocabulary(protocol)
        self.patterns = self.vocabulary.patterns
        self.protocol, self.name, self.canaries = protocol, protocol.name, canaries
        self.spots: list[Spot] = []
        self.maps: list[tuple[Segments, str, Any]] = []

    def run(self, document: Any) -> Survey:
        kind = kind_of(document, self.protocol) if isinstance(document, dict) else None
        self.free = "output" if kind in self.patterns.output.get(self.name, ()) else "text"
        self.special = self.patterns.fields["path"].get("events", {}).get(kind)
        self._walk(document, (), self.free, "")
        rows = self._candidates()
        leaks = [leak for spot in self.spots for leak in self._leaks(spot, rows.get(spot.place, ()))]
        leaks += [leak for entry in self.maps for leak in self._variables(*entry)]
        return Survey(tuple(leaks), frozenset(spot.place for spot in self.spots))

    def _walk(self, value: Any, segments: Segments, place: str, name: str) -> None:
        if isinstance(value, str):
            self.spots.append(Spot(segments, value, place, name))
        elif isinstance(value, dict):
            if is_honest(value):
                self._walk(value["reason"], (*segments, "reason"), self.free, "reason")
                return
            inside = place if place in {"tool", "output"} else self.free
            for key, sub in value.items():
                here = (*segments, key)
                kinds = self.vocabulary.kinds(key)
                if self.canaries or "clean" not in kinds:
                    self.spots.append(Spot(here, key, inside, name, in_key=True))
                if "environment" in kinds:
                    self.maps.append((here, inside, sub))
                self._walk(sub, here, self._place(key, kinds, value, inside), key)
        elif isinstance(value, list):
            for index, sub in enumerate(value):
                self._walk(sub, (*segments, index), place, name)
        elif self.canaries and isinstance(value, int | float) and not isinstance(value, bool):
            self.spots.append(Spot(segments, str(value), "number", name))

    def _place(self, key: str, kinds: frozenset[str], beside: dict[str, Any], inside: str) -> str:
        if self.special and key == self.special["field"] and self.special["beside"].items() <= _words(beside).items():
            return "path"
        return self.vocabulary.place(kinds, beside, inside)

    def _candidates(self) -> dict[str, list[Row]]:
        """Per place, the rows of which a needle occurs anywhere in the document, decoded or not."""
        low = lowered(layers("\0".join([spot.text for spot in self.spots])))
        possible = {row.id for row in self.vocabulary.all_rows if row.may_match(low)}
        return {place: [row for row in rows if row.id in possible] for place, rows in self.vocabulary.rows.items()}

    def _leaks(self, spot: Spot, rows: Iterable[Row]) -> Iterator[Leak]:
        canary = next(self._canaries(spot), None) if self.canaries else None
        if canary:
            yield canary
        if spot.place == "number" or len(spot.text) < 2:
            return
        dump = self._dump(spot) if "=" in spot.text else None
        if dump:
            yield dump
        found = self._matches(spot, rows) if rows else []
        reported: set[str] = set()
        for match in found:
            row, length = match.row, match.end - match.start
            if row.id in reported or (dump and row.id == "assignment"):
                continue
            if canary and row.kind in {*SECRET_KINDS, "entropy"}:
                continue
            reported.add(row.id)
            level = row.level(self.name, spot.place) or "MUST"
            yield self._leak(spot, row.kind, row.id, row.what, level, length)
        if not canary and not any(match.row.kind in SECRET_KINDS for match in found):
            yield from self._secret_field(spot)

    def _matches(self, spot: Spot, rows: Iterable[Row]) -> list[Match]:
        if spot.in_key or "identity" in self.vocabulary.kinds(spot.name):
            rows = [row for row in rows if row.kind != "entropy"]
        if spot.place != "path":
            return first_matches(spot.text, rows)
        # A field that holds a path is one path: the most special row names it.
        paths = [row for row in rows if row.kind in PATH_KINDS]
        if "://" in spot.text:
            paths = [row for row in paths if row.kind == "path"]
        found = next((found for row in paths if (found := first_matches(spot.text, [row]))), [])
        return found[:1] + first_matches(spot.text, [row for row in rows if row.kind not in PATH_KINDS])

    def _canaries(self, spot: Spot) -> Iterator[Leak]:
        texts = [reading.text for reading in readings(spot.text)]
        for canary in self.canaries:
            for form, how in canary_forms(canary):
                for depth, text in enumerate(texts):
                    if form in text:
                        written = "escaped" if depth and how == "as it is" else how
                        yield self._leak(spot, "canary", "canary", f"a canary, {written}", "MUST", len(form))

    def _secret_field(self, spot: Spot) -> Iterator[Leak]:
        level = self.patterns.secret.get(self.name, {}).get(spot.place)
        if spot.in_key or level is None or "secret" not in self.vocabulary.kinds(spot.name):
            return
        if self._is_plain_secret(spot.text.strip(), words_of(spot.name)[-1]):
            what = "plain text in a field that holds a secret"
            yield self._leak(spot, "named", "secret-field", what, level, len(spot.text))

    def _is_plain_secret(self, text: str, word: str) -> bool:
        if not self._is_plain(text) or text.lower() in self.patterns.vocabulary:
            return False
        if word in {"password", "passwd", "passphrase"}:
            return len(text) >= 3 and (" " not in text or word == "passphrase")
        return len(text) >= 8 and " " not in text and not compiled(r"[a-z]+(?:[-_. ][a-z]+)*").fullmatch(text)

    def _is_plain(self, text: str) -> bool:
        """True for a value that is no marker, no reference and no placeholder."""
        if not text or self.patterns.markers.fullmatch(text):
            return False
        return not compiled(r"[a-z][a-z0-9+.-]*://|\$|<|\{\{|%[A-Z]|(?:env|secret|vault|ref|keyring|sha256):").match(
            text
        )

    def _variables(self, segments: Segments, place: str, value: Any) -> Iterator[Leak]:
        level = self.patterns.environment.get(self.name, {}).get(place)
        if level is None or is_honest(value):
            return
        plain = sum(
            isinstance(sub, str) and bool(compiled(_VARIABLE).fullmatch(name)) and self._is_plain(sub)
            for name, sub in _pairs(value)
        )
        if plain:
            what = "an environment variable by value" if plain == 1 else f"{plain} environment variables by value"
            length = sum(len(sub) for _, sub in _pairs(value) if isinstance(sub, str))
            yield self._leak(Spot(segments, "", place, ""), "environment", "environment-map", what, level, length)

    def _dump(self, spot: Spot) -> Leak | None:
        if spot.in_key or ("\n" not in spot.text and "\\n" not in spot.text):
            return None
        for reading in readings(spot.text):
            pairs = dict(compiled(_ASSIGNED).findall(reading.text))
            secret = [name for name, value in pairs.items() if self._is_secret_variable(name, value)]
            if len(secret) >= 2 and (level := self.patterns.secret.get(self.name, {}).get(spot.place)):
                return self._leak(spot, "environment", "environment-secrets", "secret variables", level, len(spot.text))
            level = self.patterns.environment.get(self.name, {}).get(spot.place)
            if level and len(pairs) >= 4 and len(self.patterns.usual & pairs.keys()) >= 3:
                return self._leak(spot, "environment", "environment-dump", "an environment", level, len(spot.text))
        return None

    def _is_secret_variable(self, name: str, value: str) -> bool:
        value = value.strip("\"' \r")
        if not any(part in name for part in self.patterns.secret_names) or len(value) < 6 or not self._is_plain(value):
            return False
        return compiled(_NO_SECRET).match(value) is None

    def _leak(self, spot: Spot, kind: str, row: str, what: str, level: str, length: int) -> Leak:
        pointer = masked_pointer(spot.segments, self.canaries)
        return Leak(pointer, kind, row, what, level, spot.place, length, spot.in_key, spot.segments)


_NO_SECRET = r"(?i)your|example|xxx|change|placeholder|none$|null$|true$|false$|/|\.|[0-9]+$"
_VARIABLE = r"[A-Z_][A-Z0-9_]*"
_ASSIGNED = r"(?:^|\n)[ \t]{0,4}(?:export |declare -x |set )?([A-Z][A-Z0-9_]{1,60})=([^\n]+)"


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of variables, given as a map or as a list of assignments."""
    if isinstance(value, dict):
        yield from value.items()
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, str) and "=" in entry:
            name, _, sub = entry.partition("=")
            yield name, sub


def _words(beside: dict[str, Any]) -> dict[str, str]:
    """The fields of an object that hold text."""
    return {name: value for name, value in beside.items() if isinstance(value, str)}
