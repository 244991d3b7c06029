"""Operators on order: what is lost, comes again, changes places, or tells another time."""

from __future__ import annotations

import datetime
import itertools
from typing import Any

from validator.protocol.protocol import Protocol
from validator.replay.order import Order
from validator.testing.mutators.lines import Capture, at, events, pointer_to, put, render, without
from validator.testing.mutators.operator import Changed, named, operator
from validator.testing.mutators.slots import fresh_id

GAP = ("ORD006", "ORD009", "ORD010", "ORD011", "ORD013", "ORD014")


def replaced(capture: Capture, index: int, *lines: Any) -> Capture:
    """The capture with other lines in the place of one."""
    return [*capture[:index], *lines, *capture[index + 1 :]]


def streams(capture: Capture, protocol: Protocol) -> dict[str, list[int]]:
    """The positions of the events of each stream, each event once."""
    order, found = Order(protocol), dict[str, list[int]]()
    for index, event in events(capture):
        if order.meet(event, index)[0] is None:
            found.setdefault(order.stream(event) or "", []).append(index)
    return found


def says_prefix(capture: Capture) -> bool:
    """True for a capture whose header says that more was to come."""
    return isinstance(capture[0], dict) and capture[0].get("completeness") == "prefix"


def counted(capture: Capture, protocol: Protocol) -> dict[str, list[int]]:
    """The streams in which a gap is a fault at once: none where gaps are tolerated, where the mark of a gap may lie
    behind the end of a prefix, or where an event comes twice and its copy would tell what is missing."""
    found = streams(capture, protocol)
    waits = protocol.order["gaps"] == "repair_marker" and says_prefix(capture)
    twice = sum(len(members) for members in found.values()) != len(list(events(capture)))
    return {} if waits or twice or protocol.order["gaps"] == "tolerated" else found


@operator("drop-an-event", rules=GAP)
def drop_event(capture: Capture, protocol: Protocol) -> Changed:
    """An event in the middle of a stream is lost, and the sequence shows it."""
    for members in counted(capture, protocol).values():
        for index in members[1:-1]:
            yield named(index, capture, protocol), replaced(capture, index)


@operator("repeat-unchanged", harmless=True)
def repeat_unchanged(capture: Capture, protocol: Protocol) -> Changed:
    """An event is delivered a second time as it was; a reader has to ignore it."""
    for index, event in events(capture):
        yield named(index, capture, protocol), replaced(capture, index, event, event)


@operator("repeat-with-another-body", rules=("ORD003",))
def repeat_otherwise(capture: Capture, protocol: Protocol) -> Changed:
    """An event is delivered a second time under its own id with something else in it."""
    for index, event in events(capture):
        copy = {**event, "x-note": "told again"}
        yield named(index, capture, protocol), replaced(capture, index, event, copy)


@operator("share-a-sequence", rules=("ORD001", "ORD002", "ORD003"))
def share_sequence(capture: Capture, protocol: Protocol) -> Changed:
    """A second event of another id takes the sequence of the one before it."""
    for index, event in events(capture):
        if pointer_to(protocol, "sequence", event):
            copy = {**fresh_id(event, protocol), "x-note": "another"}
            yield named(index, capture, protocol), replaced(capture, index, event, copy)


@operator("swap-neighbours", rules=("ORD001", "ORD007"))
def swap(capture: Capture, protocol: Protocol) -> Changed:
    """Two events that follow each other in a stream change places and keep their sequences."""
    for members in streams(capture, protocol).values():
        for one, other in itertools.pairwise(members):
            lines = list(capture)
            lines[one], lines[other] = capture[other], capture[one]
            yield named(one, capture, protocol), lines


@operator("sequence-gap", rules=GAP)
def gap(capture: Capture, protocol: Protocol) -> Changed:
    """From one event on, a stream counts five further than it is."""
    for members in counted(capture, protocol).values():
        for start, index in enumerate(members[1:], start=1):
            lines = list(capture)
            for later in members[start:]:
                lines[later] = _counted(capture[later], protocol, 5)
            yield named(index, capture, protocol), lines


def _counted(event: Any, protocol: Protocol, more: int) -> Any:
    pointer = pointer_to(protocol, "sequence", event)
    return put(event, pointer, at(event, pointer) + more) if pointer else event


@operator("lose-a-sequence", rules=("ORD004", "SCH001"))
def lose_sequence(capture: Capture, protocol: Protocol) -> Changed:
    """An event loses its sequence."""
    for index, event in events(capture):
        pointer = pointer_to(protocol, "sequence", event)
        if pointer:
            yield named(index, capture, protocol), replaced(capture, index, without(event, pointer))


@operator("clock-step", rules=("ORD008",))
def clock_step(capture: Capture, protocol: Protocol) -> Changed:
    """The clock of a runtime is a day behind for one event."""
    for members in streams(capture, protocol).values():
        for index in members[1:]:
            event = capture[index]
            pointer = pointer_to(protocol, "timestamp", event) if isinstance(event, dict) else None
            if pointer:
                back = _day_before(at(event, pointer))
                yield named(index, capture, protocol), replaced(capture, index, put(event, pointer, back))


def _day_before(text: str) -> str:
    day = datetime.date.fromisoformat(text[:10]) - datetime.timedelta(days=1)
    return day.isoformat() + text[10:]


@operator("garble-a-line", rules=("FRM005",))
def garble(capture: Capture, protocol: Protocol) -> Changed:
    """A line in the middle of the capture breaks off."""
    for index in range(1, len(capture) - 1):
        raw = render([capture[index]]).removesuffix(b"\n")
        yield named(index, capture, protocol), replaced(capture, index, raw[: len(raw) // 2])


@operator("truncate-the-last-line", verdict="incomplete")
def truncate_line(capture: Capture, protocol: Protocol) -> Changed:
    """The capture breaks off within its last line."""
    raw = render([capture[-1]]).removesuffix(b"\n")
    if len(capture) > 1:
        yield named(len(capture) - 1, capture, protocol), [*capture[:-1], raw[: len(raw) // 2]]
