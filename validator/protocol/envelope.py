"""The lens: reads a line's fields by the names that tables and rules use, wherever a protocol keeps them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from validator.protocol.honest import is_honest


class Lens:
    """Maps canonical names to the places a protocol keeps them.

    A path's first step goes through the field map; the rest is followed as written. A step that ends in `[]` stands for
    each element of a list. `record.<field>` reads a record line (for a snapshot line, the snapshot inside it). A path
    is taken apart once and kept as a reader, because tables and rules ask the same few of every line.
    """

    def __init__(self, fields: dict[str, Any], identities: tuple[str, ...]):
        self.identities = identities
        self._places: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
        for name, place in fields.items():
            entries = place if isinstance(place, list) else [place]
            self._places[name] = tuple(_entry(entry) for entry in entries)
        self._readers: dict[str, Reader] = {}
        self._carried: dict[tuple[str, ...], tuple[tuple[str, Reader], ...]] = {}

    def get(self, line: dict[str, Any], path: str) -> Any:
        """The one value at a path, or None; a list path has no one value."""
        reader = self._readers.get(path)
        if reader is None:
            reader = self._readers[path] = self._reader(path)
        return reader(line)

    def _reader(self, path: str) -> Reader:
        first, *rest = path.split(".")
        if "[]" in path or first == "record":
            return functools.partial(self._one, path)
        places = [((*steps, *rest), prefix) for steps, prefix in self._places.get(first, (((first,), ""),))]
        readers = [_prefixed(_plain(steps), prefix) if prefix else _plain(steps) for steps, prefix in places]
        return readers[0] if len(readers) == 1 else _first(readers)

    def _one(self, path: str, line: dict[str, Any]) -> Any:
        values = list(self.each(line, path))
        return values[0] if len(values) == 1 else None

    def each(self, line: dict[str, Any], path: str) -> Iterator[Any]:
        """Every value at a path; absent and null values are left out."""
        first, *rest = path.split(".")
        if first == "record":
            snapshot = line.get("snapshot")
            starts: tuple[tuple[tuple[str, ...], str], ...] = (((), ""),)
            line = snapshot if line.get("record") == "snapshot" and isinstance(snapshot, dict) else line
        else:
            starts = self._places.get(first.removesuffix("[]"), (((first.removesuffix("[]"),), ""),))
            if first.endswith("[]"):
                rest = ["[]", *rest]
        for steps, prefix in starts:
            found = list(_walk(line, [*steps, *rest]))
            if prefix:
                found = [v.removeprefix(prefix) for v in found if isinstance(v, str) and v.startswith(prefix)]
            if found:
                yield from found
                return

    def scope(self, line: dict[str, Any]) -> dict[str, str]:
        """The identities a line carries; an id that is honestly missing is not carried."""
        keys = tuple(line)
        readers = self._carried.get(keys)
        if readers is None:
            if len(self._carried) > _SHAPES_KEPT:
                self._carried.clear()
            readers = self._carried[keys] = tuple(self._possible(line))
        found = {}
        for name, reader in readers:
            value = reader(line)
            if isinstance(value, str):
                found[name] = value
        return found

    def _possible(self, line: dict[str, Any]) -> Iterator[tuple[str, Reader]]:
        """The identities that a line with these keys can carry."""
        for name in self.identities:
            if any(steps[0] in line for steps, _ in self._places.get(name, (((name,), ""),))):
                yield name, self._reader(name)


Reader = Callable[[dict[str, Any]], Any]
_SHAPES_KEPT = 4096


def _plain(steps: tuple[str, ...]) -> Reader:
    """Reads one value; nothing is read out of an honest statement."""
    if len(steps) == 1:
        (key,) = steps

        def read_one(line: dict[str, Any]) -> Any:
            return line.get(key) if len(line) != 2 or not is_honest(line) else None

        return read_one

    def read(line: dict[str, Any]) -> Any:
        value: Any = line
        for step in steps:
            if not isinstance(value, dict) or (len(value) == 2 and is_honest(value)):
                return None
            value = value.get(step)
        return value

    return read


def _prefixed(reader: Reader, prefix: str) -> Reader:
    def read(line: dict[str, Any]) -> Any:
        value = reader(line)
        return value.removeprefix(prefix) if isinstance(value, str) and value.startswith(prefix) else None

    return read


def _first(readers: list[Reader]) -> Reader:
    def read(line: dict[str, Any]) -> Any:
        for reader in readers:
            value = reader(line)
            if value is not None:
                return value
        return None

    return read


def _entry(place: Any) -> tuple[tuple[str, ...], str]:
    if isinstance(place, dict):
        return tuple(place["path"].split(".")), place["prefix"]
    return tuple(place.split(".")), ""


def _walk(value: Any, steps: list[str]) -> Iterator[Any]:
    if not steps:
        if value is not None:
            yield value
        return
    step, rest = steps[0], steps[1:]
    if step == "[]":
        for element in value if isinstance(value, list) else ():
            yield from _walk(element, rest)
    elif step.endswith("[]"):
        yield from _walk(value, [step[:-2], "[]", *rest])
    elif isinstance(value, dict) and step in value and not is_honest(value):
        yield from _walk(value[step], rest)
