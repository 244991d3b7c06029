"""What the names of fields mean in a protocol, and which rows count in which kind of place."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from validator.protocol.keep import NOTHING, Keep
from validator.protocol.protocol import Protocol
from validator.protocol.regex import compiled
from validator.protocol.schemas import SchemaStore
from validator.readings import Row, are_matched
from validator.redact.patterns import Patterns, hides, load_patterns
from validator.sieve import Sieve, finder, shaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = ("path", "reference", "text", "output", "tool")
_NAMES_KEPT = 10_000
_WORD = 24
"""A name shorter than this holds no word that looks random; what else a row finds holds a needle."""
_PLAIN = frozenset({"clean", "identity"})
"""Kinds of names that leave a value what it is: free text."""
_WORDS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_HOLDS_PATH = ("#/$defs/relative_path", "known.schema.json#/$defs/path", "known.schema.json#/$defs/paths")


@functools.lru_cache(maxsize=8192)
def words_of(name: str) -> tuple[str, ...]:
    """The lower-case words of a name: `filePath` and `file_path` are `file`, `path`."""
    return tuple(word.lower() for word in compiled(_WORDS).findall(name))


class Vocabulary:
    """What field names mean in one protocol, and which rows count in which kind of place; each name is asked once."""

    def __init__(
        self,
        patterns: Patterns,
        protocol: str,
        declared: frozenset[str],
        kept: Keep = NOTHING,
        known: dict[str, frozenset[str]] | None = None,
    ):
        self.patterns, self.protocol, self.declared, self.kept = patterns, protocol, declared, kept
        self.rows = {place: self._rows(place) for place in PLACES}
        self.all_rows = tuple(row for row in patterns.rows if protocol in row.levels)
        self._kinds: dict[str, frozenset[str]] = dict(known or {})
        self.hides = hides
        self._needles = finder(frozenset(needle for row in self.all_rows for needle in row.needles))
        self._named = [_named(kind, entry, protocol) for kind, entry in patterns.fields.items()]
        self._telling = frozenset().union(*(told for _, *sets, _ in self._named for told in sets))
        """Names, and last words of names, without which no name tells what a field is."""
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
        has_needles = len(name) >= _WORD or self._needles.occur_in(shaped(name.lower()))
        if not has_needles or not are_matched(name, self.all_rows):
            yield "clean"
        if name in self.declared:
            yield "path"
        words = words_of(name)
        whole, last = " ".join(words), words[-1] if words else ""
        if self._telling.isdisjoint((name, whole, last)):
            return
        for kind, wholes, own, lasts, before in self._named:
            if whole in wholes or name in own or (last in lasts and before.isdisjoint(words[:-1])):
                yield kind

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


Named = tuple[str, frozenset[str], frozenset[str], frozenset[str], frozenset[str]]
"""A kind of field: whole names by their words, names as they are, last words, and words before these that deny it."""


def _named(kind: str, entry: dict[str, Any], protocol: str) -> Named:
    whole, own, last = entry.get("whole", ()), entry.get("of", {}).get(protocol, ()), entry.get("last", ())
    before = frozenset(entry.get("unless_before", ()))
    return "path?" if kind == "path" else kind, frozenset(whole), frozenset(own), frozenset(last), before


def vocabulary(protocol: Protocol) -> Vocabulary:
    """The vocabulary of a protocol; made once."""
    return _vocabulary(protocol.store, protocol.name)


@functools.lru_cache(maxsize=16)
def _vocabulary(store: SchemaStore, protocol: str) -> Vocabulary:
    name = f"names/{protocol}"
    known = store.kept.get(name)
    made = Vocabulary(load_patterns(store.place), protocol, path_fields(store, protocol), store.kept, known)
    if known is None:
        store.kept.put(name, lambda: {word: made.kinds(word) for word in sorted(_names(store, protocol))})
    return made


def _names(store: SchemaStore, protocol: str) -> set[str]:
    """Names that the schemas of a protocol declare. What a capture makes up beside them is never kept."""
    found: set[str] = set()
    for uri, document in store.documents.items():
        if f"/schemas/{protocol}/" in uri or "/schemas/common/" in uri:
            found.update(name for group in _objects(document) for name in group)
    return found


def _objects(schema: Any) -> Iterator[dict[str, Any]]:
    """The properties of every object that a schema speaks about."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            yield properties
    for value in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _objects(value)


@functools.lru_cache(maxsize=16)
def path_fields(store: SchemaStore, protocol: str) -> frozenset[str]:
    """Names of the fields whose schema is a relative path, somewhere in a protocol."""
    name = f"path fields/{protocol}"
    known = store.kept.get(name)
    if known is not None:
        return known
    own = [document for uri, document in store.documents.items() if f"/schemas/{protocol}/" in uri]
    found = frozenset(name for group in _objects(own) for name, sub in group.items() if _is_path(sub))
    store.kept.put(name, lambda: found)
    return found


def _is_path(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(_is_path(entry) for entry in schema)
    if not isinstance(schema, dict):
        return False
    if str(schema.get("$ref", "")).endswith(_HOLDS_PATH):
        return True
    return any(_is_path(schema.get(key)) for key in ("anyOf", "oneOf", "allOf", "items"))
