"""What an event tells: its payload, and the side objects that may carry the same facts."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts.record import Record

Event = dict[str, Any]


def told(event: Event, side: str = "") -> dict[str, Any]:
    """What an event says, to be read only; the payload wins over a side object, and null says nothing."""
    said, beside = event.get("payload") or {}, event.get(side) if side else None
    if isinstance(beside, dict):
        said = {**beside, **said}
    return said if None not in said.values() else {name: value for name, value in said.items() if value is not None}


def keep(record: Record, source: dict[str, Any], *names: str, **renamed: str) -> None:
    """Keeps the named fields that a source tells; `new=old` keeps `old` under another name."""
    data = record.data
    for name in names:
        if (value := source.get(name)) is not None:
            data[name] = value
    for name, old in renamed.items():
        if (value := source.get(old)) is not None:
            data[name] = value


def first(record: Record, source: dict[str, Any], *names: str) -> None:
    """Keeps the named fields that a source tells and nobody told before."""
    data = record.data
    for name in names:
        if name not in data and (value := source.get(name)) is not None:
            data[name] = value


def add(record: Record, name: str, *values: Any) -> None:
    """Adds values to a collected list, without repetition."""
    collected = record.data.setdefault(name, [])
    collected += [value for value in dict.fromkeys(values) if value is not None and value not in collected]


def ids(value: Any) -> list[str]:
    """A list of ids, or nothing when it is not told or only honestly said to be missing."""
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
