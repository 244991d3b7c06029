"""What a capture exercises: event types that occur, and rows of state tables that are taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from validator.capture.ndjson import Line, read
from validator.errors import CaptureError
from validator.protocol import casing
from validator.protocol.protocol import Protocol
from validator.records import dataclass
from validator.replay.fold import Fold


@dataclass(frozen=True, slots=True)
class Coverage:
    """Event types and rows, seen and all there are."""

    events: frozenset[str]
    all_events: frozenset[str]
    rows: frozenset[str]
    all_rows: frozenset[str]

    def joined(self, other: Coverage) -> Coverage:
        """What two captures exercise together."""
        return Coverage(self.events | other.events, self.all_events, self.rows | other.rows, self.all_rows)


def nothing(protocol: Protocol) -> Coverage:
    """The coverage of no capture at all."""
    rows = frozenset(row.id for row in protocol.rows())
    return Coverage(frozenset(), frozenset(protocol.events), frozenset(), rows)


def measure(protocol: Protocol, stream: BinaryIO) -> Coverage:
    """What the readable lines of one capture exercise, up to where its bytes are damaged."""
    fold, form = Fold(protocol), None
    events: set[str] = set()
    rows: set[str] = set()
    for line in _sound(stream):
        if not line.readable:
            continue
        document = line.document
        if "record" not in document and protocol.bindings:
            form = form or casing.detect(document)
            if form == "camelCase":
                kind = document.get("type")
                reference = protocol.schema_for(kind if isinstance(kind, str) else None)
                document = casing.to_canonical(protocol.store, reference, document).document
        if "record" not in document:
            events.add(protocol.type_of(document) or "")
        rows |= {move.row.id for move in fold.apply(document, line.number).taken()}
    empty = nothing(protocol)
    return Coverage(frozenset(events & empty.all_events), empty.all_events, frozenset(rows), empty.all_rows)


def _sound(stream: BinaryIO) -> Iterator[Line]:
    try:
        yield from read(stream)
    except CaptureError:  # the report of the capture says so
        return
