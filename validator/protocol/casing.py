"""The camelCase binding, derived from the schemas and never written by hand.

Only declared properties are renamed. Keys of free maps, tool arguments and vendor fields are data and stay as they are,
which is why a document can be converted only along its schema. Going there and back gives the same document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from validator.protocol.schemas import SchemaStore
from validator.protocol.view import View, view

_UNDERSCORE = re.compile(r"(?<=[a-z0-9])_([a-z0-9])")


def camel(name: str) -> str:
    """`tool_call_id` as `toolCallId`."""
    return _UNDERSCORE.sub(lambda match: match.group(1).upper(), name)


@dataclass(slots=True)
class Conversion:
    """A document in the other casing, and where it held declared properties in the casing it is not written in."""

    document: Any
    foreign: list[str] = field(default_factory=list)


def to_camel(store: SchemaStore, reference: str, document: Any) -> Conversion:
    """A canonical document in the camelCase binding."""
    return _convert(store, reference, document, forward=True)


def to_canonical(store: SchemaStore, reference: str, document: Any) -> Conversion:
    """A document of the camelCase binding in canonical form."""
    return _convert(store, reference, document, forward=False)


def _convert(store: SchemaStore, reference: str, document: Any, forward: bool) -> Conversion:
    foreign: list[str] = []
    return Conversion(_rename(document, view(store, reference), forward, foreign, ""), foreign)


def _rename(value: Any, shape: View, forward: bool, foreign: list[str], pointer: str) -> Any:
    if isinstance(value, list):
        items = shape.items()
        return [_rename(element, items, forward, foreign, f"{pointer}/{index}") for index, element in enumerate(value)]
    if not isinstance(value, dict):
        return value
    declared = shape.properties()
    names = {name if forward else camel(name): name for name in declared}
    free = shape.values()
    renamed: dict[str, Any] = {}
    for key, sub in value.items():
        here = f"{pointer}/{key}"
        if key in names:
            name = names[key]
            renamed[camel(name) if forward else name] = _rename(sub, declared[name], forward, foreign, here)
            continue
        if (key in declared or key in {camel(name) for name in declared}) and key not in renamed:
            foreign.append(here)
        renamed.setdefault(key, _rename(sub, free, forward, foreign, here))
    return renamed


def camel_schema(schema: Any) -> Any:
    """A schema with its declared properties renamed; enums, examples and constants are data and stay."""
    if isinstance(schema, list):
        return [camel_schema(sub) for sub in schema]
    if not isinstance(schema, dict):
        return schema
    renamed: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            renamed[key] = {camel(name): camel_schema(sub) for name, sub in value.items()}
        elif key == "required":
            renamed[key] = [camel(name) for name in value]
        elif key in {"enum", "const", "examples", "default"}:
            renamed[key] = value
        elif key == "$defs":
            renamed[key] = {name: camel_schema(sub) for name, sub in value.items()}
        else:
            renamed[key] = camel_schema(value)
    return renamed


def detect(event: dict[str, Any]) -> str | None:
    """The casing of an event, told by the one name that every event carries and that the casings spell apart."""
    if "event_id" in event:
        return "snake_case"
    return "camelCase" if "eventId" in event else None
