"""Schemas taken apart: what `$ref` and `allOf` add to a subschema, resolved within our own files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any, NamedTuple

ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description", "examples", "default"})
JOINING = frozenset({"$ref", "allOf"})
GENERIC = frozenset({"type", "const", "enum", "anyOf", "not", "if", "then", "else"})
STRINGS = frozenset({"minLength", "maxLength", "pattern", "format"})
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
ARRAYS = frozenset({"items", "minItems", "maxItems", "uniqueItems"})
OBJECTS = frozenset(
    {"properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"}
)
KNOWN = ANNOTATIONS | JOINING | GENERIC | STRINGS | NUMBERS | ARRAYS | OBJECTS


class UnsupportedError(Exception):
    """A schema says something the compiler does not understand; the authority decides."""


class Part(NamedTuple):
    """One subschema that speaks about a value, and the file it stands in (relative to the schema folder)."""

    schema: dict[str, Any]
    file: str


def spread(documents: dict[str, Any], schema: Any, file: str) -> Iterator[Part]:
    """A subschema and everything that `$ref` and `allOf` add to it; parts that demand nothing are left out."""
    if schema is True:
        return
    if not isinstance(schema, dict):
        raise UnsupportedError
    if not schema.keys() <= KNOWN or (schema is not documents.get(file) and "$id" in schema):
        raise UnsupportedError
    if not schema.keys() <= ANNOTATIONS | JOINING:
        yield Part(schema, file)
    if "$ref" in schema:
        target, place = resolve(documents, schema["$ref"], file)
        yield from spread(documents, target, place)
    for sub in schema.get("allOf", ()):
        yield from spread(documents, sub, file)


def resolve(documents: dict[str, Any], reference: str, file: str) -> tuple[Any, str]:
    """What a reference names, and its file; only plain relative paths and pointers are followed."""
    path, _, fragment = reference.partition("#")
    if "%" in reference or ":" in path or (fragment and not fragment.startswith("/")):
        raise UnsupportedError
    place = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
    if place not in documents:
        raise UnsupportedError
    found = documents[place]
    for step in fragment.split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        if found is None:
            raise UnsupportedError
    return found, place
