"""Two captures of one run: the same events by id, order and body, and whose fault it is when they are not.

Three ways to hold them against each other. *Subscribers* heard the same stream at the same time; either may have joined
later. *Reconnect*: the first ends where a connection broke, the second begins after it. *Replay*: the first was heard
live, the second is the whole history as it was read back. A culprit is only named when a side's own numbers,
repetitions or shapes prove it.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator
from typing import Any

from validator import redact
from validator.datafile import json_pointer
from validator.diffsides import Heard, Side
from validator.records import dataclass, replace

MODES = ("subscribers", "reconnect", "replay")
_MOST_POINTERS = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which the two captures are not the same."""

    kind: str
    """lost, reordered, changed, reused, repeated, or gap (numbers that neither side has)."""
    culprit: str
    """A, B, or unknown."""
    why: str
    event: str = ""
    event_type: str | None = None
    sequence: int | None = None
    line_a: int | None = None
    line_b: int | None = None
    pointers: tuple[str, ...] = ()
    fails: bool = True
    """A repetition is legal and only told."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two captures have in common and what not."""

    a: Side
    b: Side
    mode: str
    shared: int
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()
    comparable: bool = True

    @property
    def exit_code(self) -> int:
        if any(side.lines and not side.readable for side in (self.a, self.b)):
            return 4
        if any(difference.fails for difference in self.differences):
            return 1
        return 0 if self.comparable else 3


def compare(a: Side, b: Side, mode: str) -> Comparison:
    """Everything in which two sides differ, in the order of the streams."""
    shared = [name for name in a.events if name in b.events]
    found = [*_lost(a, b, mode), *_reordered(a, b, shared), *_changed(a, b, shared)]
    for label, side in (("A", a), ("B", b)):
        found += _own_faults(label, side)
    canaries = a.canaries + b.canaries
    found = [_masked(difference, canaries) for difference in found]
    notes = [*_notes(a, b, mode, shared)]
    return Comparison(a, b, mode, len(shared), tuple(found), tuple(notes), _comparable(a, b, mode, shared))


def _comparable(a: Side, b: Side, mode: str, shared: list[str]) -> bool:
    if mode == "reconnect":
        numbered = all(any(event.sequence is not None for event in side.events.values()) for side in (a, b))
        return bool(shared) or numbered
    return bool(shared)


def _notes(a: Side, b: Side, mode: str, shared: list[str]) -> Iterator[str]:
    for label, side in (("A", a), ("B", b)):
        if not side.events:
            yield f"{label} ({side.file}) holds no event that can be compared"
        if side.nameless:
            yield f"{side.nameless} events of {label} have neither an id nor a number and were not compared"
    if a.events and b.events and not shared:
        if mode != "reconnect":
            yield "the captures share no event, so nothing can be said about either"
        elif not _comparable(a, b, mode, shared):
            yield "the captures do not overlap and have no numbers: whether anything was lost cannot be known"
    if mode == "subscribers":
        for label, one, other in (("A", a, b), ("B", b, a)):
            later = _before_first_shared(other, one)
            if later:
                yield f"{label} joined {later} events later"


def _before_first_shared(have: Side, lack: Side) -> int:
    """How many events one side heard before the first that both heard."""
    order = list(have.events)
    return next((index for index, name in enumerate(order) if name in lack.events), 0)


def _lost(a: Side, b: Side, mode: str) -> Iterator[Difference]:
    for label, have, lack in (("B", a, b), ("A", b, a)):
        for name in _expected(have, lack, mode, lacking=label):
            event = have.events[name]
            culprit, why = _who_lost(event, have, lack, label, mode)
            lines = {"line_a": event.line} if label == "B" else {"line_b": event.line}
            yield _difference("lost", culprit, why, event, **lines)
    if mode == "reconnect":
        yield from _gaps(a, b)


def _expected(have: Side, lack: Side, mode: str, lacking: str) -> Iterator[str]:
    """Ids of events that the lacking side does not have although it was there to hear them."""
    order = list(have.events)
    shared = [index for index, name in enumerate(order) if name in lack.events]
    if not shared and mode != "replay":
        return
    start = shared[0] if shared else 0
    end = shared[-1] + 1 if shared else 0
    if mode == "replay":
        start, end = (0, len(order)) if lacking == "B" else (start, end)
    elif mode == "subscribers" or lacking == "B":
        end = len(order)
    for name in order[start:end]:
        if name not in lack.events:
            yield name


def _who_lost(event: Heard, have: Side, lack: Side, label: str, mode: str) -> tuple[str, str]:
    other = "A" if label == "B" else "B"
    numbers = lack.numbers.get(event.stream)
    if event.sequence is None or numbers is None:
        return "unknown", "there are no numbers that would tell who is right"
    rival = numbers.events.get(event.sequence)
    if rival is not None:
        if rival.id in have.events and have.events[rival.id].sequence == event.sequence:
            return other, f"{other} gives number {event.sequence} to two events"
        return "unknown", f"both use number {event.sequence}, for different events"
    if numbers.first < event.sequence < numbers.last:
        return label, f"{label}'s own numbers jump over {event.sequence}"
    if mode == "replay" and label == "B":
        return "B", "a replay has to hold what was heard live"
    where = "ends before" if event.sequence > numbers.last else "begins after"
    return "unknown", f"{label} {where} number {event.sequence}: it may have lost it, or not have been there"


def _gaps(a: Side, b: Side) -> Iterator[Difference]:
    """Numbers between the end of the first capture and the beginning of the second."""
    for stream in dict.fromkeys(event.stream for event in b.events.values()):
        before, after = a.numbers.get(stream), b.numbers.get(stream)
        if before and after and after.first > before.last + 1:
            first, last = before.last + 1, after.first - 1
            told = f"number {first}" if first == last else f"numbers {first} to {last}"
            yield Difference("gap", "B", f"B goes on after {told}, which A never heard", sequence=first)


def _reordered(a: Side, b: Side, shared: list[str]) -> Iterator[Difference]:
    streams: dict[str, list[str]] = {}
    for name in shared:
        streams.setdefault(a.events[name].stream, []).append(name)
    rank = {name: index for index, name in enumerate(b.events)}
    for names in streams.values():
        moved = _out_of_line([rank[name] for name in names])
        if not moved:
            continue
        culprit, why = _who_shuffled(a, b, names, sorted(names, key=rank.__getitem__))
        for index in moved:
            event = a.events[names[index]]
            yield _difference("reordered", culprit, why, event, line_a=event.line, line_b=b.events[event.id].line)


def _out_of_line(ranks: list[int]) -> list[int]:
    """Positions that a longest rising run leaves out."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, rank in enumerate(ranks):
        place = bisect.bisect_left(tails, rank)
        previous.append(ends[place - 1] if place else -1)
        tails[place : place + 1], ends[place : place + 1] = [rank], [index]
    kept, index = set(), ends[-1] if ends else -1
    while index >= 0:
        kept.add(index)
        index = previous[index]
    return [index for index in range(len(ranks)) if index not in kept]


def _who_shuffled(a: Side, b: Side, in_a: list[str], in_b: list[str]) -> tuple[str, str]:
    """Whose numbers run back over the events of a stream, given in the order of each side."""
    rising = {
        "A": _rises([a.events[name] for name in in_a]),
        "B": _rises([b.events[name] for name in in_b]),
    }
    if rising["A"] and rising["B"] is False:
        return "B", "B's own numbers run back"
    if rising["B"] and rising["A"] is False:
        return "A", "A's own numbers run back"
    return "unknown", "neither side's numbers tell which order is right"


def _rises(events: list[Heard]) -> bool | None:
    numbers = [event.sequence for event in events if event.sequence is not None]
    if len(numbers) != len(events):
        return None
    return all(first < second for first, second in itertools.pairwise(numbers))


def _changed(a: Side, b: Side, shared: list[str]) -> Iterator[Difference]:
    for name in shared:
        one, other = a.events[name], b.events[name]
        if one.digest == other.digest:
            continue
        fits = (a.fits_schema(one), b.fits_schema(other))
        culprit = {(True, False): "B", (False, True): "A"}.get(fits, "unknown")
        why = f"only {culprit}'s body breaks its schema" if culprit != "unknown" else "both bodies are possible"
        apart = itertools.islice(_apart(one.body, other.body, ()), _MOST_POINTERS)
        pointers = tuple(_shown(path, a.canaries + b.canaries) for path in apart)
        yield _difference("changed", culprit, why, one, line_a=one.line, line_b=other.line, pointers=pointers)


def _apart(one: Any, other: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Where two values have nothing in common; never the values."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if key not in one or key not in other:
                yield (*path, key)
            else:
                yield from _apart(one[key], other[key], (*path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _apart(left, right, (*path, index))
    elif one != other or type(one) is not type(other):
        yield path


def _shown(path: tuple[str | int, ...], canaries: tuple[str, ...]) -> str:
    """A pointer as a message may show it: a key can be a leaked path too."""
    return json_pointer([redact.mask(part, canaries) if isinstance(part, str) else part for part in path])


def _masked(difference: Difference, canaries: tuple[str, ...]) -> Difference:
    """A difference as it may be shown: an id or a type can be anything."""
    kind = difference.event_type
    kind = redact.mask(kind, canaries) if kind else kind
    return replace(difference, event=redact.mask(difference.event, canaries), event_type=kind)


def _own_faults(label: str, side: Side) -> Iterator[Difference]:
    """What one side did by itself: the same event again, or one id for two events."""
    key = f"line_{label.lower()}"
    for name, number in side.reused.items():
        why = f"{label} uses one id for two different events"
        yield _difference("reused", label, why, side.events[name], **{key: number})
    for name, numbers in side.repeats.items():
        why = f"{label} delivered it {len(numbers) + 1} times"
        yield _difference("repeated", label, why, side.events[name], **{key: numbers[0], "fails": False})


def _difference(kind: str, culprit: str, why: str, event: Heard, **more: Any) -> Difference:
    return Difference(kind, culprit, why, event.id, event.type, event.sequence, **more)
