"""Where a replay stops: at the end, after a line, or after the event that has a sequence.

A sequence counts in a stream, and which field names the stream is protocol data. `17` is enough for a capture of one
stream; `STREAM:17` names it. The first event with that sequence counts; delivered again, it changes nothing.
"""

from __future__ import annotations

from validator.errors import UsageError
from validator.records import dataclass, field
from validator.redact import mask

_SHOWN = 6


@dataclass(slots=True)
class _Stream:
    """The sequences of one stream around the one that is asked for."""

    below: int | None = None
    above: int | None = None
    last: int = 0


@dataclass(slots=True)
class Target:
    """The place asked for, and what the capture holds around it."""

    line: int | None = None
    stream: str | None = None
    sequence: int | None = None
    _streams: dict[str, _Stream] = field(default_factory=dict)

    def meets(self, stream: str | None, sequence: int | None) -> bool:
        """Takes note of an event; True when it is the one asked for."""
        if self.sequence is None or sequence is None:
            return False
        seen = self._streams.setdefault(stream or "", _Stream())
        seen.last = max(seen.last, sequence)
        if sequence < self.sequence:
            seen.below = sequence if seen.below is None else max(seen.below, sequence)
        elif sequence > self.sequence:
            seen.above = sequence if seen.above is None else min(seen.above, sequence)
        return sequence == self.sequence and self.stream in {None, stream or ""}

    def check(self, reached: bool, lines: int, canaries: tuple[str, ...]) -> None:
        """Refuses a place that the capture does not have, or has in several streams."""
        if self.line is not None and self.line > lines:
            raise UsageError(f"there is no line {self.line}", hint=f"the capture has {lines} lines")
        if self.sequence is None:
            return
        names = ", ".join(repr(mask(name, canaries)) for name in list(self._streams)[:_SHOWN])
        if self.stream is None and len(self._streams) > 1:
            reason = f"the capture has {len(self._streams)} streams, so a sequence alone names no place"
            raise UsageError(reason, hint=f"say --at STREAM:{self.sequence}; streams: {names}")
        if self.stream is not None and self.stream not in self._streams:
            reason = f"no event that counts is in the stream {mask(self.stream, canaries)!r}"
            raise UsageError(reason, hint=f"streams: {names or 'none'}")
        if not reached:
            raise UsageError(f"no event has sequence {self.sequence}", hint=self._hint())

    def _hint(self) -> str:
        seen = self._streams.get(self.stream or "") if self.stream is not None else None
        seen = seen or next(iter(self._streams.values()), None)
        if seen is None:
            return "the events of this capture have no sequence; use --line"
        near = [str(number) for number in (seen.below, seen.above) if number is not None]
        return f"nearest: {' and '.join(near)}; the last is {seen.last}"


def parse(at: str | None, line: int | None) -> Target:
    """Reads `--at 17`, `--at STREAM:17` or `--line 3`."""
    if at is None:
        return Target(line=line)
    if line is not None:
        raise UsageError("a replay stops at a sequence or after a line, not both")
    stream, colon, digits = at.rpartition(":")
    if not digits.isascii() or not digits.isdigit():
        raise UsageError("the sequence to stop at is not a whole number", hint="say --at 17, or --at STREAM:17")
    return Target(stream=stream if colon else None, sequence=int(digits))
