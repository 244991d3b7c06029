"""What the ordering rules remember about streams: what is missing of them."""

from __future__ import annotations

from bisect import bisect_right

from validator.records import dataclass
from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SILENT_RETURN = {"channel.connected", "channel.disconnected", "channel.resumed"}
"""Events about the connection itself; they are not what a gap has swallowed the like of."""
_FOLLOWED = 1024


def payload_of(world: Any, line: dict[str, Any]) -> dict[str, Any]:
    """The payload of an event, empty when there is none."""
    value = world.protocol.lens.get(line, "payload")
    return value if isinstance(value, dict) else {}


def whole(value: Any) -> int | None:
    """A sequence, or None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def is_marker(world: Any, step: Step) -> bool:
    """True for an event that says that a gap was repaired."""
    if step.type not in world.protocol.order.get("repair", ()):
        return False
    return step.type == "snapshot.repaired" or payload_of(world, step.line).get("recovery_mode") is True


@dataclass(slots=True, eq=False)
class Gap:
    """Sequences of a stream that have not come."""

    stream: str
    session: str | None
    begins: int
    """The first sequence that was missing when it was noticed."""
    missing: set[int] | range
    line: int
    """The event after the gap."""
    before: int | None
    """The event before it."""
    type: str | None = None
    """The type of the event after the gap."""
    followed: int | None = None
    """The next ordinary event of the stream."""

    @property
    def first(self) -> int:
        return self.missing[0] if isinstance(self.missing, range) else min(self.missing)

    @property
    def last(self) -> int:
        return self.missing[-1] if isinstance(self.missing, range) else max(self.missing)


class Gaps:
    """The gaps of every stream that are neither filled nor marked.

    A stream goes on from its highest sequence, so that its gaps come in the order of what is missing and never overlap.
    """

    def __init__(self, world: Any):
        self._world = world
        self._follows = world.protocol.order["gaps"] != "tolerated"
        self._markers = frozenset(world.protocol.order.get("repair", ()))
        self.open: dict[Gap, None] = {}
        self._of: dict[str, list[Gap]] = {}
        """The same by stream."""
        self._streams: dict[str, dict[str, None]] = {}
        """By session, the streams of which it has missed something."""
        self._latest: dict[str, list[Gap]] = {}
        """By stream, those that no ordinary event has followed."""
        self.covered: list[Gap] = []
        """What the marker of this step covers."""
        self._unreadable: list[int] = []

    def unreadable(self, number: int) -> None:
        """A line that could not be read may hold one missing event."""
        self._unreadable.append(number)

    def waits(self, stream: str) -> bool:
        """True when the next event of a stream is the first that follows a gap."""
        return stream in self._latest

    def apply(self, step: Step) -> None:
        self.covered = []
        place = step.place
        if place is None or not self._follows:
            return
        stream = place.stream or ""
        if place.verdict == "next" and stream not in self._latest and step.type not in self._markers:
            return
        if place.verdict == "behind":
            self._fill(stream, place.sequence)
        elif place.verdict == "gap":
            self._miss(step, range(place.previous + 1, place.sequence))
        elif place.verdict == "first" and place.sequence > self._world.protocol.order.get("first", place.sequence):
            self._miss(step, range(self._world.protocol.order["first"], place.sequence))
        if is_marker(self._world, step):
            self._cover(step, stream)
        elif step.type not in SILENT_RETURN and stream in self._latest:
            self._follow(stream, step.number)

    def _follow(self, stream: str, number: int) -> None:
        """An ordinary event follows the gaps before it."""
        waiting = self._latest.pop(stream)
        for gap in waiting:
            if gap.line != number:
                gap.followed = number
        if new := [gap for gap in waiting if gap.line == number]:
            self._latest[stream] = new

    def _miss(self, step: Step, missing: range) -> None:
        before = step.place.previous_line
        hidden = len(self._unreadable) - bisect_right(self._unreadable, before or 0)
        # The length of a range is not asked for: a sequence may be larger than any length.
        if missing.stop - missing.start > hidden:
            stream, session = step.place.stream or "", step.scope.get("session_id")
            gap = Gap(stream, session, missing.start, missing, step.number, before, step.type)
            self.open[gap] = None
            self._of.setdefault(stream, []).append(gap)
            self._latest.setdefault(stream, []).append(gap)
            if session is not None:
                self._streams.setdefault(session, {})[stream] = None

    def _fill(self, stream: str, sequence: int) -> None:
        gaps = self._of.get(stream, [])
        place = bisect_right(gaps, sequence, key=_begins) - 1
        if place < 0 or sequence not in gaps[place].missing:
            return
        gap = gaps[place]
        # A late event is rare and a gap may be huge: only small ones are followed number by number.
        if gap.last - gap.first < _FOLLOWED:
            gap.missing = set(gap.missing) - {sequence}
        if not gap.missing:
            self._close(stream, place, place + 1, {gap})

    def _cover(self, step: Step, stream: str) -> None:
        payload, session = payload_of(self._world, step.line), step.scope.get("session_id")
        first, last = whole(payload.get("gap_from")), whole(payload.get("gap_to"))
        found: list[Gap] = []
        for name in {stream: None, **self._streams.get(session, {})}:
            gaps = self._of.get(name, [])
            # What is missing of a gap may begin later than the gap did.
            start = 0 if first is None else max(bisect_right(gaps, first, key=_begins) - 1, 0)
            stop = len(gaps) if last is None else bisect_right(gaps, last, key=_begins)
            here = [
                gap
                for gap in gaps[start:stop]
                if (gap.stream == stream or (gap.session is not None and gap.session == session))
                and (first is None or first <= gap.first)
                and (last is None or last >= gap.last)
            ]
            if here:
                self._close(name, start, stop, {*here})
                found += here
        self.covered = sorted(found, key=lambda gap: gap.line)

    def _close(self, stream: str, start: int, stop: int, closed: set[Gap]) -> None:
        """Takes gaps off, all of which stand in one part of their stream's."""
        gaps = self._of[stream]
        gaps[start:stop] = [gap for gap in gaps[start:stop] if gap not in closed]
        for gap in closed:
            del self.open[gap]


def _begins(gap: Gap) -> int:
    return gap.begins
