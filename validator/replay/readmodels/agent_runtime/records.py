"""Copies of records: the fields that a record declares and an event has, and no others."""

from __future__ import annotations

import functools
from collections.abc import Callable

from validator.protocol.honest import is_honest
from validator.protocol.protocol import Protocol
from validator.protocol.view import View, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNTOLD = "no event told it"


def honest(word: str, reason: str = UNTOLD) -> dict[str, str]:
    """An honest value in the place of one that the stream does not supply."""
    return {"honest": word, "reason": reason}


UNWATCHED = honest("unknown", "the replay does not watch for this change")
"""The time of a change that no piece is watched for."""


def present(**fields: Any) -> dict[str, Any]:
    """A record without the fields that nobody told."""
    return {name: value for name, value in fields.items() if value is not None}


class Later:
    """A field of a document that is worked out when somebody asks for it."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]):
        self.make = make


def distinct(values: Any) -> list[Any]:
    """Without repetitions; the first mention keeps its place."""
    seen: dict[str, Any] = {}
    for value in values:
        seen.setdefault(value if isinstance(value, str) else repr(value), value)
    return list(seen.values())


def as_list(value: Any) -> list[Any]:
    """A list that was told, or an empty one where an honest value or nothing stands."""
    return value if isinstance(value, list) else []


def as_record(value: Any) -> dict[str, Any]:
    """An object that was told, or an empty one where an honest value or nothing stands."""
    return value if isinstance(value, dict) and not is_honest(value) else {}


def texts(entries: list[dict[str, Any]], name: str) -> list[str]:
    """What entries say in a field, where that is a text."""
    return [entry[name] for entry in entries if isinstance(entry.get(name), str)]


def cloned(value: Any) -> Any:
    """A copy that shares no list and no object with a document."""
    if isinstance(value, dict):
        return {name: cloned(entry) for name, entry in value.items()}
    return [cloned(entry) for entry in value] if isinstance(value, list) else value


class Shape:
    """What one place of a schema declares, looked up once."""

    def __init__(self, place: View):
        self._view = place

    @functools.cached_property
    def fields(self) -> dict[str, Shape]:
        return {name: Shape(place) for name, place in self._view.properties().items()}

    @functools.cached_property
    def elements(self) -> Shape:
        return Shape(self._view.items())

    def copy(self, value: Any) -> Any:
        """The declared part of a value; a free map is copied as it is."""
        if isinstance(value, list):
            return [self.elements.copy(entry) for entry in value]
        if not isinstance(value, dict) or is_honest(value) or not self.fields:
            return value
        return {name: shape.copy(value[name]) for name, shape in self.fields.items() if value.get(name) is not None}


@functools.lru_cache(maxsize=256)
def shape_of(protocol: Protocol, name: str) -> Shape:
    """What a read model, or a record of the definitions, declares."""
    record = f"{protocol.id}/definitions/records.schema.json#/$defs/{name}"
    return Shape(view(protocol.store, protocol.snapshots.get(name) or record))


class Records:
    """The records of a protocol, by name."""

    def __init__(self, protocol: Protocol):
        self._protocol = protocol

    def shape(self, name: str) -> Shape:
        return shape_of(self._protocol, name)

    def fields(self, name: str) -> tuple[str, ...]:
        return tuple(self.shape(name).fields)

    def copy(self, name: str, value: Any) -> Any:
        return self.shape(name).copy(value)

    def field(self, name: str, field: str, value: Any) -> Any:
        """The declared part of one field of a record."""
        shape = self.shape(name).fields.get(field)
        return shape.copy(value) if shape else value
