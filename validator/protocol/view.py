"""A schema seen through its references and alternatives: which properties it declares, wherever it declares them.

Casing, profiles, generated tables and strategies all ask the same question of a schema: what may stand here? A view
answers it for our schemas by following `$ref`, `allOf`, `anyOf`, `oneOf`, `if`, `then` and `else`; it does not
validate.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.protocol.schemas import BASE, HONEST, SchemaStore
from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("then", "else")


@dataclass(frozen=True, slots=True)
class Part:
    """One subschema that speaks about a place, with the resolver of its file."""

    schema: dict[str, Any]
    resolver: Any
    optional: bool = False
    """It speaks only in one alternative or branch, so what it requires is not required always."""
    honest: bool = False
    """It is the honest statement that may stand instead of the value."""
    name: str = ""
    """The definition it is the body of, as file stem and name: `records.task`."""


@dataclass(frozen=True, slots=True)
class View:
    """All subschemas that speak about one place."""

    parts: tuple[Part, ...]

    def properties(self) -> dict[str, View]:
        """Declared properties, in the order they are written, with everything said about each."""
        found: dict[str, list[Part]] = {}
        for part in self.parts:
            for name, sub in part.schema.get("properties", {}).items():
                found.setdefault(name, []).extend(_flatten(sub, part.resolver))
        return {name: View(tuple(parts)) for name, parts in found.items()}

    def items(self) -> View:
        """What the elements of an array have to fit."""
        return self._below("items")

    def values(self) -> View:
        """What the values of a free map have to fit."""
        return self._below("additionalProperties")

    def _below(self, keyword: str) -> View:
        holders = (part for part in self.parts if keyword in part.schema)
        return View(tuple(sub for part in holders for sub in _flatten(part.schema[keyword], part.resolver)))

    def at(self, path: str) -> View | None:
        """The view at a dotted path of declared properties, or None when one of them is not declared."""
        place = self
        for step in path.split("."):
            declared = place.properties().get(step.removesuffix("[]"))
            if declared is None:
                return None
            place = declared.items() if step.endswith("[]") else declared
        return place

    def required(self) -> set[str]:
        """Properties that every document must have; what only an alternative demands is left out."""
        return {name for part in self.parts if not part.optional for name in part.schema.get("required", ())}

    def first(self, keyword: str) -> Any:
        """The first value that any part gives a keyword."""
        return next((part.schema[keyword] for part in self.parts if keyword in part.schema), None)

    @property
    def types(self) -> list[str]:
        """JSON types a place accepts, honest statements apart."""
        return list(dict.fromkeys(t for part in self.parts if isinstance(t := part.schema.get("type"), str)))

    @property
    def names(self) -> list[str]:
        """The named definitions that a place refers to, nearest first."""
        return [part.name for part in self.parts if part.name]

    @property
    def honest(self) -> bool:
        """True when an honest statement may stand instead of the value."""
        return any(part.honest for part in self.parts)


def view(store: SchemaStore, reference: str) -> View:
    """The view of one schema below the root folder."""
    return View(tuple(_flatten({"$ref": BASE + reference}, store.registry.resolver(base_uri=BASE))))


def _flatten(schema: Any, resolver: Any, optional: bool = False, name: str = "") -> Iterator[Part]:
    if not isinstance(schema, dict):
        return
    own = {key: value for key, value in schema.items() if key not in (*_ALTERNATIVES, *_BRANCHES, "$ref", "if")}
    if own or name:
        yield Part(own, resolver, optional, name=name)
    if "$ref" in schema:
        if schema["$ref"].endswith(HONEST):
            yield Part({}, resolver, optional=True, honest=True)
        else:
            found = resolver.lookup(schema["$ref"])
            yield from _flatten(found.contents, found.resolver, optional, _name(schema["$ref"], name))
    for keyword in _ALTERNATIVES:
        for sub in schema.get(keyword, ()):
            yield from _flatten(sub, resolver, optional or keyword != "allOf")
    for keyword in _BRANCHES:
        yield from _flatten(schema.get(keyword), resolver, optional=True)


def _name(reference: str, inside: str) -> str:
    """`records.task` for `../definitions/records.schema.json#/$defs/task`; a local one keeps the file it is in."""
    file, _, fragment = reference.partition("#/$defs/")
    stem = file.rsplit("/", 1)[-1].removesuffix(".schema.json") or inside.partition(".")[0]
    return f"{stem}.{fragment}" if fragment else ""
