"""Sequence and time belong to the place in a stream, not to the event that stands there.

An edit that drops, moves or adds events would otherwise always be found by its sequence alone. Here each stream keeps
its slots: the first event takes the first sequence and time of the stream, the second the second; an event too many
counts on from the last.
"""

from __future__ import annotations

from typing import Any

from validator.protocol.protocol import Protocol
from validator.replay.order import Order
from validator.testing.mutators.lines import Capture, at, events, places, pointer_to, put

FIELDS = ("sequence", "timestamp")


def renumber(capture: Capture, original: Capture, protocol: Protocol) -> Capture:
    """The capture with the slots of the original."""
    slots = _slots(original, protocol)
    order, taken, out = Order(protocol), dict.fromkeys(slots, 0), list(capture)
    for index, event in events(capture):
        stream = order.stream(event) or ""
        mine = slots.get(stream, [])
        number = taken.get(stream, 0)
        taken[stream] = number + 1
        values = mine[number] if number < len(mine) else _beyond(mine, number)
        out[index] = _seat(event, values, protocol)
    return out


def _slots(capture: Capture, protocol: Protocol) -> dict[str, list[dict[str, Any]]]:
    order = Order(protocol)
    found: dict[str, list[dict[str, Any]]] = {}
    for _, event in events(capture):
        values = {name: protocol.lens.get(event, name) for name in FIELDS}
        found.setdefault(order.stream(event) or "", []).append(values)
    return found


def _beyond(slots: list[dict[str, Any]], number: int) -> dict[str, Any]:
    if not slots:
        return {"sequence": number + 1, "timestamp": None}
    last = slots[-1]
    sequence = last["sequence"]
    count = sequence + number - len(slots) + 1 if isinstance(sequence, int) else None
    return {"sequence": count, "timestamp": last["timestamp"]}


def _seat(event: dict[str, Any], values: dict[str, Any], protocol: Protocol) -> dict[str, Any]:
    for name, value in values.items():
        pointer = pointer_to(protocol, name, event)
        if pointer is not None and value is not None:
            event = put(event, pointer, value)
    return event


def fresh_id(event: dict[str, Any], protocol: Protocol, mark: str = "again") -> dict[str, Any]:
    """A copy of an event under an id of its own, where the protocol gives events ids."""
    for pointer in places(protocol, "event_id"):
        own = at(event, pointer)
        if isinstance(own, str):
            return put(event, pointer, f"{own}-{mark}")
    return dict(event)
