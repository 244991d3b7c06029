"""Follows the sequence of every stream, and tells an event delivered again from an id used for something else."""

from __future__ import annotations

from validator.capture.encode import read_bytes
from validator.protocol.protocol import Protocol
from validator.replay.seen import SeenEvents, hashed, hashed_all, short
from validator.replay.step import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KIND = 0xFFFF
"""The bits of what is noted about an event that hold the number of its type; the others hold the digest."""

_LARGEST = 1 << 64
_LATE = frozenset({"behind", "same"})
"""Places from which a stream does not go on."""


class Order:
    """The last sequence of each stream, and a digest of each event seen."""

    def __init__(self, protocol: Protocol):
        self._protocol = protocol
        lens = protocol.lens
        self._event_id, self._sequence = lens.reader("event_id"), lens.reader("sequence")
        self._streams = tuple(lens.reader(key) for key in protocol.order["key"])
        self._last: dict[str, tuple[int, int]] = {}
        self._quiet = SeenEvents()
        self.seen = SeenEvents()
        self._kinds, self._types = {"": 0}, [""]
        self.highest: int | None = None
        """The highest sequence so far, in whatever stream, and the line that last had it."""
        self.highest_line = 0

    def meet(self, event: dict[str, Any], number: int) -> tuple[int | None, int | None]:
        """The line that delivered the same event before, and the line that used its id for another body."""
        event_id = self._event_id(event)
        if type(event_id) is str:
            identity: int | None = short(event_id)
        else:
            identity = self._unnamed(event)
            if identity is None:
                return None, None
        body = hashed(read_bytes(event)) & ~_KIND | self.kind_of(event)
        before = self.seen.meet(identity, body, number)
        if before is None:
            return None, None
        return (before[1], None) if before[0] == body else (None, before[1])

    def find(self, event_id: str) -> tuple[int, str] | None:
        """The line that first used an event id, and the type of that event."""
        before = self.seen.get(short(event_id))
        return (before[1], self._types[before[0] & _KIND]) if before else None

    def body(self, digest: int, kind: int) -> int:
        """What is noted about an event: most bits of its digest, which does not depend on the order of keys."""
        return digest & ~_KIND | kind

    def repeat(self, name: bytes, body: bytes, kind: int, stream: str, sequence: int, number: int) -> bool:
        """Takes in an event that comes next in its stream, `body` being its bytes; False when it was met before.

        Its name is its id, or else its place.
        """
        if self.seen.meet(hashed(name), self.body(hashed(body), kind), number) is not None:
            return False
        self._last[stream] = (sequence, number)
        return True

    def repeat_row(
        self, names: list[bytes], bodies: list[bytes], kind: int, stream: str, first: int, number: int
    ) -> int:
        """The same of events that follow one another; how many, up to the first that was met before."""
        noted = [digest & ~_KIND | kind for digest in hashed_all(bodies)]
        count = self.seen.meet_all(hashed_all(names), noted, number)
        if count:
            self._last[stream] = (first + count - 1, number + count - 1)
        return count

    def reach(self, sequence: int, number: int) -> None:
        """Takes a sequence for the highest, if it is; events of other streams may have been placed after it."""
        if (sequence, number) > (self.highest or 0, self.highest_line):
            self.highest, self.highest_line = sequence, number

    def kind_of(self, event: dict[str, Any]) -> int:
        """The number of an event's type; zero for none, and for the types of a stream that has too many."""
        kind = self._protocol.type_of(event) or ""
        number = self._kinds.get(kind)
        if number is None and len(self._types) <= _KIND:
            number = self._kinds[kind] = len(self._types)
            self._types.append(kind)
        return number or 0

    def fade(self, line: int) -> set[str]:
        """Moves streams not heard of since a line to the flat table, 40 bytes at most each; says which are left."""
        for stream, (sequence, last) in list(self._last.items()):
            if last < line and 0 <= sequence < _LARGEST:
                self._quiet.note(short(stream), sequence, last)
                del self._last[stream]
        return set(self._last)

    def last(self, stream: str) -> tuple[int | None, int | None]:
        """The last sequence of a stream, and its line."""
        return self._last.get(stream) or self._recall(stream)

    def leaps(self, event: dict[str, Any]) -> bool:
        """True for an event that tells by its sequence that something is missing before it in its stream."""
        sequence = self._sequence(event)
        return type(sequence) is int and sequence > (self.last(self.stream(event) or "")[0] or 0) + 1

    def _recall(self, stream: str) -> tuple[int | None, int | None]:
        return (self._quiet.get(short(stream)) if self._quiet else None) or (None, None)

    def _unnamed(self, event: dict[str, Any]) -> int | None:
        """What identifies an event without an id: its place in its stream."""
        stream, sequence = self.stream(event), self._sequence(event)
        return hashed(named_by_place(stream, sequence)) if stream is not None and sequence is not None else None

    def stream(self, event: dict[str, Any]) -> str | None:
        """The stream an event counts in: the first of the policy's keys that it carries."""
        for read in self._streams:
            value = read(event)
            if isinstance(value, str):
                return value
        return None

    def place(self, event: dict[str, Any], number: int) -> Place:
        """Where an event stands in its stream; the stream then goes on from it."""
        stream, sequence = self.stream(event), self._sequence(event)
        if not isinstance(sequence, int) or isinstance(sequence, bool):
            return Place(stream, None, None, "none")
        if sequence >= (self.highest or 0):
            self.highest, self.highest_line = sequence, number
        key = stream or ""
        last, line = self._last.get(key) or self._recall(key)
        verdict = "next" if last is not None and sequence == last + 1 else _verdict(last, sequence)
        if verdict not in _LATE:
            self._last[key] = (sequence, number)
        return Place(stream, sequence, last, verdict, line)


def named_by_place(stream: str, sequence: Any) -> bytes:
    """What an event without an id is called: its stream, and its place there."""
    return f"{stream}\n{sequence}".encode("utf-8", "surrogatepass")


def _verdict(last: int | None, sequence: int) -> str:
    """What a sequence that is not the next one is to the last."""
    if last is None:
        return "first"
    if sequence > last:
        return "gap"
    return "same" if sequence == last else "behind"
