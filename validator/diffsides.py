"""One side of a comparison: its events in the order they came, each once, and what was delivered again."""

from __future__ import annotations

import hashlib
import json
from typing import Any, BinaryIO

from validator.capture.canonical import Canonical
from validator.capture.detect import protocol_of
from validator.capture.lines import line_errors, planted
from validator.capture.ndjson import read
from validator.protocol.protocol import Protocol, load_protocol
from validator.records import dataclass, field
from validator.replay.order import Order


@dataclass(frozen=True, slots=True)
class Heard:
    """An event as one side heard it."""

    id: str
    type: str | None
    line: int
    stream: str
    sequence: int | None
    body: dict[str, Any]
    digest: str


@dataclass(slots=True)
class Numbers:
    """The events of one stream by their number, and between which numbers they lie."""

    first: int
    last: int
    events: dict[int, Heard] = field(default_factory=dict)

    def take(self, number: int, event: Heard) -> None:
        self.first, self.last = min(self.first, number), max(self.last, number)
        self.events[number] = event


@dataclass(slots=True)
class Side:
    """What one capture holds, by event id."""

    file: str
    protocol: Protocol | None = None
    lines: int = 0
    readable: int = 0
    events: dict[str, Heard] = field(default_factory=dict)
    numbers: dict[str, Numbers] = field(default_factory=dict)
    """By stream; only those in which something is numbered."""
    repeats: dict[str, list[int]] = field(default_factory=dict)
    """Id to the lines that delivered the same event again."""
    reused: dict[str, int] = field(default_factory=dict)
    """Id to the line that used it for another body."""
    canaries: tuple[str, ...] = ()
    """Values that were planted and must not be printed."""
    nameless: int = 0
    """Events without an id or a place in a stream; they cannot be compared."""

    def take(self, event: Heard) -> None:
        """Takes in an event that is heard for the first time."""
        self.events[event.id] = event
        if event.sequence is not None:
            numbers = self.numbers.get(event.stream)
            if numbers is None:
                numbers = self.numbers[event.stream] = Numbers(event.sequence, event.sequence)
            numbers.take(event.sequence, event)

    def fits_schema(self, event: Heard) -> bool:
        return self.protocol is not None and not line_errors(self.protocol, event.body)


def read_side(file: str, stream: BinaryIO, protocol: str | None = None, canaries: tuple[str, ...] = ()) -> Side:
    """The events of one capture."""
    side = Side(file, None if protocol is None else load_protocol(protocol), canaries=canaries)
    canonical = None
    for line in read(stream):
        side.lines += 1
        side.readable += line.readable
        if not line.readable:
            continue
        side.protocol = side.protocol or protocol_of(line.document)
        if line.document.get("record") == "header":
            side.canaries += planted(line.document)
        if side.protocol is None:
            continue
        canonical = canonical or Canonical(side.protocol)
        for reading in canonical.read(line.document):
            if "record" not in reading.document and not reading.export:
                _hear(side, side.protocol, reading.document, line.number)
    return side


def _hear(side: Side, protocol: Protocol, document: dict[str, Any], number: int) -> None:
    stream = Order(protocol).stream(document) or ""
    sequence = protocol.lens.get(document, "sequence")
    sequence = sequence if isinstance(sequence, int) and not isinstance(sequence, bool) else None
    name = protocol.lens.get(document, "event_id")
    if not isinstance(name, str):
        if sequence is None:
            side.nameless += 1
            return
        name = f"{stream}#{sequence}"
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    heard = Heard(
        name, protocol.type_of(document), number, stream, sequence, document, hashlib.sha256(text.encode()).hexdigest()
    )
    before = side.events.get(name)
    if before is None:
        side.take(heard)
    elif before.digest == heard.digest:
        side.repeats.setdefault(name, []).append(number)
    else:
        side.reused.setdefault(name, number)
