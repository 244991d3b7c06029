"""The lens: reads a line's fields by the names that tables and rules use, wherever a protocol keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.protocol.honest import is_honest


class Lens:
    """Maps canonical names to the places a protocol keeps them.

    A path's first step goes through the field map; the rest is followed as written. A step that ends in `[]` stands for
    each element of a list. `record.<field>` reads a record line (for a snapshot line, the snapshot inside it).
    """

    def __init__(self, fields: dict[str, Any], identities: tuple[str, ...]):
        self.identities = identities
        self._places: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
        for name, place in fields.items():
            entries = place if isinstance(place, list) else [place]
            self._places[name] = tuple(_entry(entry) for entry in entries)

    def get(self, line: dict[str, Any], path: str) -> Any:
        """The one value at a path, or None; a list path has no one value."""
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
        found = ((name, self.get(line, name)) for name in self.identities)
        return {name: value for name, value in found if isinstance(value, str)}


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
