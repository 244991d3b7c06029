"""A search for events that cost more the more of them there are: `python -m tests.bench.growth [PROTOCOL ...]`.

Every event type of a protocol makes streams of its own, from its shortest and its longest fixture: with new ids in
every event, with the same in all, and with the same in every other one. Told is how much more work four times the
events are; about four is as it has to be. Counted are lines of our code, so that what is found is found again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from tests.bench.work import work
from validator import resources
from validator.datafile import read_json
from validator.protocol.protocol import available

FEW, TIMES = 39, 4
"""Less than 200 events in all: then a layout gets an acceptor of its own, which is work that comes once."""
MOST = 4.4
"""More than that is told at the end of the search."""
_OUTER = frozenset({"session_id", "sessionId", "runtime_id", "runtimeId"})
"""Ids of what all events of a stream are in."""
_OWN = frozenset({"event_id", "eventId"})


def streams(protocol: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Name, event and way of every stream."""
    folder = resources.fixtures() / protocol / "documents" / "events"
    for path in sorted(folder.rglob("*.json")):
        valid = sorted((case["document"] for case in read_json(path)["cases"] if case["valid"]), key=_size)
        for event, size in ((valid[0], "short"), (valid[-1], "long")) if valid else ():
            for way in ("new ids", "same ids", "same ids in turn"):
                yield f"{path.stem}, {size}, {way}", event, way


def _size(event: dict[str, Any]) -> int:
    return len(json.dumps(event))


def told(event: dict[str, Any], way: str, events: int) -> Iterator[dict[str, Any]]:
    """An event as often as asked for."""
    for number in range(1, events + 1):
        is_new = way == "new ids" or (way == "same ids in turn" and number % 2 == 1)
        yield {**_renamed(event, number, is_new), "sequence": number}


def _renamed(value: Any, number: int, is_new: bool) -> Any:
    if isinstance(value, list):
        return [_renamed(sub, number, is_new) for sub in value]
    if not isinstance(value, dict):
        return value
    return {
        name: f"{sub}_{number:04d}" if _is_renamed(name, sub, is_new) else _renamed(sub, number, is_new)
        for name, sub in value.items()
    }


def _is_renamed(name: str, value: Any, is_new: bool) -> bool:
    names_something = isinstance(value, str) and name.endswith(("_id", "Id")) and name not in _OUTER
    return names_something and (is_new or name in _OWN)


def growth(event: dict[str, Any], way: str) -> float:
    """How much more work four times the events are, beside the first ones; the least of two, if that is much.

    What a process remembers of all captures is cleared now and then, which is work as well.
    """
    found = _growth(event, way)
    return found if found <= MOST else min(found, _growth(event, way))


def _growth(event: dict[str, Any], way: str) -> float:
    one, few, many = (work(told(event, way, FEW * times)) for times in (1, 2, 1 + TIMES))
    return (many - one) / (few - one)


def main(protocols: list[str]) -> None:
    for protocol in protocols:
        found = sorted(((growth(event, way), name) for name, event, way in streams(protocol)), reverse=True)
        high = [f"  {ratio:.2f}  {name}" for ratio, name in found if ratio > MOST]
        most = found[0][0]
        print(f"{protocol}: {len(found)} streams, {TIMES} times the events are at most {most:.2f} times the work")
        print("\n".join(high), end="\n" if high else "")


if __name__ == "__main__":
    main(sys.argv[1:] or available())
