"""The lens: reads a line's fields by the names that tables and rules use, wherever a protocol keeps them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from operator import methodcaller

from validator.protocol.honest import is_honest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
        self._readers = _Readers(self._reader)
        self.type = self.reader("type")
        self._carried: dict[tuple[str, ...], tuple[tuple[str, str | None, Reader], ...]] = {}

    def get(self, line: dict[str, Any], path: str) -> Any:
        """The one value at a path, or None; a list path has no one value."""
        return self._readers[path](line)

    def reader(self, path: str) -> Reader:
        """What reads the one value at a path, for those who ask it of every line."""
        return self._readers[path]

    def path(self, name: str) -> tuple[str, ...]:
        """The keys that lead to a field; the first ones, where it may stand in several places."""
        return self._places.get(name, (((name,), ""),))[0][0]

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
        for name, key, reader in readers:
            value = line[key] if key is not None else reader(line)
            if isinstance(value, str):
                found[name] = value
        return found

    def _possible(self, line: dict[str, Any]) -> Iterator[tuple[str, str | None, Reader]]:
        """The identities that a line with these keys can carry, each with its key where it has no other place."""
        for name, firsts, alone, reader in self._ways:
            for first in firsts:
                if first in line:
                    yield name, first if alone else None, reader
                    break

    @functools.cached_property
    def _ways(self) -> list[tuple[str, tuple[str, ...], bool, Reader]]:
        """Every identity, the keys that a line which carries it has one of, and whether the one key is its place."""
        found = []
        for name in self.identities:
            places = self._places.get(name, (((name,), ""),))
            (steps, prefix), *others = places
            alone = not others and not prefix and _is_top(steps)
            found.append((name, tuple([way[0] for way, _ in places]), alone, self._readers[name]))
        return found


Reader = Callable[[dict[str, object]], object]
_SHAPES_KEPT = 4096


class _Readers(dict[str, Reader]):
    """Readers by path; each is made when it is first asked for."""

    def __init__(self, make: Callable[[str], Reader]):
        super().__init__()
        self._make = make

    def __missing__(self, path: str) -> Reader:
        reader = self[path] = self._make(path)
        return reader


def _is_top(steps: tuple[str, ...]) -> bool:
    """True for a key of the line itself that no honest statement has, so that the line need not be looked at."""
    return len(steps) == 1 and steps[0] not in {"honest", "reason"}


def _plain(steps: tuple[str, ...]) -> Reader:
    """Reads one value; nothing is read out of an honest statement."""
    if _is_top(steps):
        return methodcaller("get", *steps)

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
