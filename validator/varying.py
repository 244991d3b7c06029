"""Fields beside text in which the lines of a stream differ: what a vendor adds to each, and places that count up.

Nobody reads what stands under a name that the contract does not know, except to see whether it leaks or hides
something; so lines that differ there only say the same (`echo.py`). Which fields differ is learned from two lines that
follow one another and would be alike without them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from validator.holes import Hole, at
from validator.names import is_name
from validator.protocol.protocol import Protocol
from validator.protocol.schemas import SchemaStore
from validator.streamed import STREAMED, Fields, Path, frame_of

READ = frozenset({"message_id"})
"""Names that no schema declares and a rule reads all the same."""
_MOST = 8
"""Fields of a type that may differ; lines that differ in more take the long way."""
_HONEST = "honest"
_KINDS = {str: "word", int: "whole", float: "fraction"}


class Varying:
    """The fields in which lines of a capture were seen to differ, by the type of the line."""

    def __init__(self, protocol: Protocol):
        self._protocol, self._frame = protocol, frame_of(protocol)
        self._counted = STREAMED[protocol.name].counted
        self._paths: dict[str, dict[Path, None]] = {}

    def holes(self, document: dict[str, Any], kind: str) -> tuple[Hole, ...]:
        """The holes that a line of a type has beside those of its stream."""
        found, payload = [], self._frame.payload
        for path in self._paths.get(kind, ()):
            value = at(document, path)
            if path[:-1] == payload:
                found += [Hole("count", path)] if type(value) is int else []
            elif value != "" and type(value) in _KINDS:
                found.append(Hole(_KINDS[type(value)], path))
        return tuple(found)

    def learn(self, before: dict[str, Any], after: dict[str, Any], kind: str, fields: Fields) -> None:
        """Takes in where two lines of a type differ, if they do so only in what nobody reads."""
        found: dict[Path, None] = {}
        for path in self._differing(before, after, kind, self._frame.own(fields)):
            if path is None:
                return
            found[path] = None
        known = self._paths.setdefault(kind, {})
        if len(known | found) <= _MOST:
            known.update(found)

    def _differing(self, one: Any, two: Any, kind: str, own: frozenset[Path], path: Path = ()) -> Iterator[Path | None]:
        """Where two lines of a type differ, but for what is their own; None for a place that somebody may read."""
        if type(one) is not dict or type(two) is not dict or one.keys() != two.keys():
            yield None
            return
        payload = self._frame.payload
        for name in two:
            place = (*path, name)
            if one[name] == two[name] or place in own:
                continue
            if payload[: len(place)] == place:
                yield from self._differing(one[name], two[name], kind, own, place)
            elif path:
                yield place if path == payload and name in self._counted.get(kind, ()) else None
            elif name in READ or name in self._protocol.identities or name in _declared(self._protocol.store):
                yield None
            else:
                yield from _leaves(one[name], two[name], place)


def _leaves(one: Any, two: Any, path: Path) -> Iterator[Path | None]:
    """Where two values that stand under a vendor's name differ."""
    if is_name(path[-1]) or type(one) is not type(two):
        yield None
    elif type(one) is dict:
        if one.keys() != two.keys() or _HONEST in one:
            yield None
            return
        for name in one:
            if one[name] != two[name]:
                yield from _leaves(one[name], two[name], (*path, name))
    else:
        yield path if type(one) in _KINDS else None


@functools.lru_cache(maxsize=8)
def _declared(store: SchemaStore) -> frozenset[str]:
    """Every name that a schema declares, whatever it belongs to."""
    found: set[str] = set()
    waiting: list[Any] = list(store.documents.values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("properties"), dict):
                found.update(value["properties"])
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return frozenset(found)
