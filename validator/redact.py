"""Finds private paths and secrets in documents, and masks them in whatever we print.

What counts, and what it weighs where, is data (`schemas/common/1/*-patterns.yaml`); how a text is read is in
`readings.py`. A find says what kind of thing it is and how long; it never holds the value.
"""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from validator import resources
from validator.errors import DefinitionError
from validator.protocol.definition import read_definition
from validator.protocol.honest import is_honest
from validator.protocol.keep import NOTHING, Keep
from validator.protocol.protocol import Protocol
from validator.protocol.schemas import SchemaStore, load_store
from validator.readings import Match, Row, layers, lowered, matches, readings
from validator.sieve import Sieve, finder, shaped

PLACES = ("path", "reference", "text", "output", "tool")
FILES = ("path-patterns", "secret-patterns")
SECRET_KINDS = ("url", "secret")
PATH_KINDS = ("path", "escape", "backslash")
_MEMO = 64
"""Texts up to this length are remembered once they were looked at; ids come again and again."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Everything the two files say."""

    rows: tuple[Row, ...]
    fields: dict[str, dict[str, Any]]
    output: dict[str, list[str]]
    markers: re.Pattern[str]
    vocabulary: frozenset[str]
    usual: frozenset[str]
    secret_names: tuple[str, ...]
    environment: dict[str, dict[str, str]]
    secret: dict[str, dict[str, str]]

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.id == name)


def load_patterns(root: Path | None = None) -> Patterns:
    """The rows for paths, then those for secrets; read once in a process."""
    return _load(root.resolve()) if root else _shipped()


@functools.cache
def _shipped() -> Patterns:
    return _load(resources.schemas().resolve())


@functools.lru_cache(maxsize=4)
def _load(root: Path) -> Patterns:
    folder, store = root / "common" / "1", load_store(root)
    paths, secrets = (read_definition(folder / f"{name}.yaml", "patterns", store) for name in FILES)
    rows = tuple(_row(entry, data["weights"]) for data in (paths, secrets) for entry in data["rows"])
    environment, weights = secrets["environment"], secrets["weights"]
    return Patterns(
        rows=rows,
        fields={**paths["fields"], **secrets["fields"]},
        output=paths["output"],
        markers=re.compile(secrets["markers"], re.IGNORECASE),
        vocabulary=frozenset(secrets["vocabulary"]),
        usual=frozenset(environment["usual"]),
        secret_names=tuple(environment["secret"]),
        environment=weights[environment["weight"]]["levels"],
        secret=weights["secret"]["levels"],
    )


def _row(entry: dict[str, Any], weights: dict[str, Any]) -> Row:
    if entry["weight"] not in weights:
        raise DefinitionError(f"{entry['id']} weighs {entry['weight']}, which is not listed", source="patterns")
    return Row(
        id=entry["id"],
        kind=entry["kind"],
        what=entry["what"],
        pattern=entry["regex"],
        needles=tuple(entry.get("needles", ())),
        unless_pattern=entry.get("unless"),
        not_after_pattern=entry.get("not_after"),
        bits=entry.get("bits", 0),
        loose=entry.get("loose"),
        levels=weights[entry["weight"]]["levels"],
        hit=tuple("".join(example) for example in entry["hit"]),
        near=tuple("".join(example) for example in entry["near"]),
    )


# -- masking ---------------------------------------------------------------------------------------------------------

_REST = re.compile(r"(?:[^\s\"'<>|]*(?: [^\s\"'<>|/\\]{1,40}){0,3}[/\\])*[^\s\"'<>|]*")
"""What may still belong to a path that has spaces in its names."""


def mask(text: str, canaries: Iterable[str] = ()) -> str:
    """A text in which no private path, secret or canary is left; one that holds none comes back as it is."""
    rows = _shown_rows()
    words = [form for canary in canaries for form, _ in canary_forms(canary)]
    for _ in range(8):
        spans = [(match.start, match.end, match.row.kind) for match in matches(text, rows)]
        spans += [(start, end, "canary") for start, end in _occurrences(text, words)]
        if not spans:
            return text
        text = _replaced(text, spans)
    return "[masked]"


@functools.cache
def _shown_rows() -> tuple[Row, ...]:
    return tuple(row for row in load_patterns().rows if row.in_text and row.kind != "entropy")


def _replaced(text: str, spans: list[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, kind in sorted(spans):
        if start < done:
            continue
        if kind == "path":
            rest = _REST.match(text, end)
            end = rest.end() if rest else end
        parts += [text[done:start], "[masked path]" if kind == "path" else "[masked secret]"]
        done = max(end, done)
    return "".join(parts) + text[done:]


def _occurrences(text: str, words: list[str]) -> Iterator[tuple[int, int]]:
    for reading in readings(text):
        for word in words:
            start = reading.text.find(word)
            while start != -1:
                yield reading.original(start, start + len(word))
                start = reading.text.find(word, start + len(word))


@functools.lru_cache(maxsize=256)
def canary_forms(canary: str) -> tuple[tuple[str, str], ...]:
    """A canary and its common encodings: base64 at each of three alignments, base64 for addresses, hexadecimal."""
    if not canary:
        return ()
    forms = {canary: "as it is"}
    raw = canary.encode("utf-8", "surrogatepass")
    if len(raw) >= 6:
        for shift in range(3):
            encoded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
            # The characters at either end also depend on the neighbours.
            core = encoded[(0, 2, 3)[shift] : len(encoded) - bool((len(raw) + shift) % 3)]
            forms.setdefault(core, "in base64")
            forms.setdefault(core.replace("+", "-").replace("/", "_"), "in base64")
        forms.setdefault(raw.hex(), "in hexadecimal")
        forms.setdefault(raw.hex().upper(), "in hexadecimal")
    return tuple(forms.items())


# -- what a field is -------------------------------------------------------------------------------------------------

_NAMES_KEPT = 10_000
_WORD = 24
"""A name shorter than this holds no word that looks random; what else a row finds holds a needle."""
_PLAIN = frozenset({"clean", "identity"})
"""Kinds of names that leave a value what it is: free text."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HOLDS_PATH = ("#/$defs/relative_path", "known.schema.json#/$defs/path", "known.schema.json#/$defs/paths")


@functools.lru_cache(maxsize=8192)
def words_of(name: str) -> tuple[str, ...]:
    """The lower-case words of a name: `filePath` and `file_path` are `file`, `path`."""
    return tuple(word.lower() for word in _WORDS.findall(name))


class Vocabulary:
    """What field names mean in one protocol, and which rows count in which kind of place; each name is asked once."""

    def __init__(self, patterns: Patterns, protocol: str, declared: frozenset[str], kept: Keep = NOTHING):
        self.patterns, self.protocol, self.declared, self.kept = patterns, protocol, declared, kept
        self.rows = {place: self._rows(place) for place in PLACES}
        self.all_rows = tuple(row for row in patterns.rows if protocol in row.levels)
        self._kinds: dict[str, frozenset[str]] = {}
        self._needles = finder(frozenset(needle for row in self.all_rows for needle in row.needles))
        self.sieve = Sieve(self)

    def _rows(self, place: str) -> tuple[Row, ...]:
        """Rows that count in a place, from the special to the general."""
        return tuple(row for row in self.patterns.rows if row.level(self.protocol, place))

    def kinds(self, name: str) -> frozenset[str]:
        """What a field is by its name: `path` by its schema, `path?` by its words alone, other kinds, `clean`."""
        found = self._kinds.get(name)
        if found is None:
            if len(self._kinds) > _NAMES_KEPT:
                self._kinds.clear()
            found = self._kinds[name] = frozenset(self._find(name))
        return found

    def _find(self, name: str) -> Iterator[str]:
        if (len(name) < _WORD and not self._needles.occur_in(shaped(name.lower()))) or not matches(name, self.all_rows):
            yield "clean"
        if name in self.declared:
            yield "path"
        for kind, entry in self.patterns.fields.items():
            if self._is_named(entry, name):
                yield "path?" if kind == "path" else kind

    def place(self, kinds: frozenset[str], beside: Iterable[str], inside: str) -> str:
        """Where a value stands by what its name is, by the names beside it, and by where its object stands."""
        if kinds <= _PLAIN:
            return inside
        unless = self.patterns.fields["path"].get("unless_beside", ())
        if "path" in kinds or ("path?" in kinds and not any(name in beside for name in unless)):
            return "path"
        if inside != "tool" and "reference" in kinds:
            return "reference"
        return "tool" if "tool" in kinds else inside

    def telling_words(self) -> frozenset[str]:
        """Last words of all names that are no free text, whatever stands before them."""
        found = {words_of(name)[-1] for name in self.declared}
        for kind, entry in self.patterns.fields.items():
            if kind != "identity":
                names = (*entry.get("last", ()), *entry.get("whole", ()), *entry.get("of", {}).get(self.protocol, ()))
                found |= {words_of(name)[-1] for name in names}
        return frozenset(found)

    def _is_named(self, entry: dict[str, Any], name: str) -> bool:
        words = words_of(name)
        if " ".join(words) in entry.get("whole", ()) or name in entry.get("of", {}).get(self.protocol, ()):
            return True
        if not words or words[-1] not in entry.get("last", ()):
            return False
        return not any(word in entry.get("unless_before", ()) for word in words[:-1])


def vocabulary(protocol: Protocol) -> Vocabulary:
    """The vocabulary of a protocol; made once."""
    return _vocabulary(protocol.store, protocol.name)


@functools.lru_cache(maxsize=16)
def _vocabulary(store: SchemaStore, protocol: str) -> Vocabulary:
    return Vocabulary(load_patterns(store.root), protocol, path_fields(store, protocol), store.kept)


@functools.lru_cache(maxsize=16)
def path_fields(store: SchemaStore, protocol: str) -> frozenset[str]:
    """Names of the fields whose schema is a relative path, somewhere in a protocol."""
    name = f"path fields/{protocol}"
    known = store.kept.get(name)
    if known is not None:
        return known
    found: set[str] = set()
    for uri, document in store.documents.items():
        if f"/schemas/{protocol}/" in uri:
            _collect(document, found)
    store.kept.put(name, lambda: frozenset(found))
    return frozenset(found)


def _collect(schema: Any, found: set[str]) -> None:
    if isinstance(schema, list):
        for entry in schema:
            _collect(entry, found)
    elif isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            found |= {name for name, sub in properties.items() if _is_path(sub)}
        for value in schema.values():
            _collect(value, found)


def _is_path(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(_is_path(entry) for entry in schema)
    if not isinstance(schema, dict):
        return False
    if str(schema.get("$ref", "")).endswith(_HOLDS_PATH):
        return True
    return any(_is_path(schema.get(key)) for key in ("anyOf", "oneOf", "allOf", "items"))


# -- scanning --------------------------------------------------------------------------------------------------------

Segments = tuple[str | int, ...]


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
    segments: Segments = field(default=(), repr=False)

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


def scan(document: Any, protocol: Protocol, canaries: Iterable[str] = ()) -> Iterator[Leak]:
    """Every leak in a line of a capture, keys and values, in the order they stand."""
    yield from survey(document, protocol, canaries).leaks


def survey(document: Any, protocol: Protocol, canaries: Iterable[str] = (), raw: bytes | None = None) -> Survey:
    """Every leak in a line of a capture, and what was looked at; `raw` is the line as it was read."""
    words = tuple(canaries)
    if not words and isinstance(document, dict):
        kind = None if "record" in document else protocol.type_of(document)
        places = vocabulary(protocol).sieve.places(document, kind, raw)
        if places is not None:
            return Survey((), places)
    return exact_survey(document, protocol, words)


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


class _Scanner:
    """One document's walk: collects its strings, then asks only the rows that can match."""

    def __init__(self, protocol: Protocol, canaries: tuple[str, ...]):
        self.vocabulary = vocabulary(protocol)
        self.patterns = self.vocabulary.patterns
        self.protocol, self.name, self.canaries = protocol, protocol.name, canaries
        self.spots: list[Spot] = []
        self.maps: list[tuple[Segments, str, Any]] = []

    def run(self, document: Any) -> Survey:
        kind = self.protocol.type_of(document) if isinstance(document, dict) and "record" not in document else None
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
            return matches(spot.text, rows)
        # A field that holds a path is one path: the most special row names it.
        paths = [row for row in rows if row.kind in PATH_KINDS]
        if "://" in spot.text:
            paths = [row for row in paths if row.kind == "path"]
        found = next((found for row in paths if (found := matches(spot.text, [row]))), [])
        return found[:1] + matches(spot.text, [row for row in rows if row.kind not in PATH_KINDS])

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
        return len(text) >= 8 and " " not in text and not re.fullmatch(r"[a-z]+(?:[-_. ][a-z]+)*", text)

    def _is_plain(self, text: str) -> bool:
        """True for a value that is no marker, no reference and no placeholder."""
        if not text or self.patterns.markers.fullmatch(text):
            return False
        return not re.match(r"[a-z][a-z0-9+.-]*://|\$|<|\{\{|%[A-Z]|(?:env|secret|vault|ref|keyring|sha256):", text)

    def _variables(self, segments: Segments, place: str, value: Any) -> Iterator[Leak]:
        level = self.patterns.environment.get(self.name, {}).get(place)
        if level is None or is_honest(value):
            return
        plain = sum(
            isinstance(sub, str) and bool(_VARIABLE.fullmatch(name)) and self._is_plain(sub)
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
            pairs = dict(_ASSIGNED.findall(reading.text))
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
        return not re.match(r"(?i)your|example|xxx|change|placeholder|none$|null$|true$|false$|/|\.|[0-9]+$", value)

    def _leak(self, spot: Spot, kind: str, row: str, what: str, level: str, length: int) -> Leak:
        pointer = masked_pointer(spot.segments, self.canaries)
        return Leak(pointer, kind, row, what, level, spot.place, length, spot.in_key, spot.segments)


_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_ASSIGNED = re.compile(r"(?:^|\n)[ \t]{0,4}(?:export |declare -x |set )?([A-Z][A-Z0-9_]{1,60})=([^\n]+)")


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


@functools.lru_cache(maxsize=4096)
def _masked(segment: str, canaries: tuple[str, ...]) -> str:
    return mask(segment, canaries)


def masked_pointer(segments: Segments, canaries: Iterable[str] = ()) -> str:
    """A JSON pointer in which keys that leak are masked."""
    words = tuple(canaries)
    steps = (_masked(segment, words) if isinstance(segment, str) else str(segment) for segment in segments)
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
