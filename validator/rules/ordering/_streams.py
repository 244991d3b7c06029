"""What the ordering rules remember about streams: what is missing of them."""

from __future__ import annotations

from typing import Any

from validator.records import dataclass
from validator.replay.step import Step

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


@dataclass(slots=True)
class Gap:
    """Sequences of a stream that have not come."""

    stream: str
    session: str | None
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
    """The gaps of every stream that are neither filled nor marked."""

    def __init__(self, world: Any):
        self._world = world
        self._follows = world.protocol.order["gaps"] != "tolerated"
        self._markers = frozenset(world.protocol.order.get("repair", ()))
        self.open: list[Gap] = []
        self.covered: list[Gap] = []
        """What the marker of this step covers."""
        self._unreadable: list[int] = []

    def unreadable(self, number: int) -> None:
        """A line that could not be read may hold one missing event."""
        self._unreadable.append(number)

    def apply(self, step: Step) -> None:
        self.covered = []
        place = step.place
        if place is None or not self._follows:
            return
        if place.verdict == "next" and not self.open and step.type not in self._markers:
            return
        stream = place.stream or ""
        if place.verdict == "behind":
            self._fill(stream, place.sequence)
        elif place.verdict == "gap":
            self._miss(step, range(place.previous + 1, place.sequence))
        elif place.verdict == "first" and place.sequence > self._world.protocol.order.get("first", place.sequence):
            self._miss(step, range(self._world.protocol.order["first"], place.sequence))
        if is_marker(self._world, step):
            self._cover(step, stream)
            return
        for gap in self.open:
            if gap.stream == stream and gap.followed is None and gap.line != step.number:
                gap.followed = step.number if step.type not in SILENT_RETURN else None

    def _miss(self, step: Step, missing: range) -> None:
        before = step.place.previous_line
        hidden = sum(line > (before or 0) for line in self._unreadable)
        # The length of a range is not asked for: a sequence may be larger than any length.
        if missing.stop - missing.start > hidden:
            session = step.scope.get("session_id")
            self.open.append(Gap(step.place.stream or "", session, missing, step.number, before, step.type))

    def _fill(self, stream: str, sequence: int | None) -> None:
        for gap in [gap for gap in self.open if gap.stream == stream and sequence in gap.missing]:
            # A late event is rare and a gap may be huge: only small ones are followed number by number.
            if gap.last - gap.first < _FOLLOWED:
                gap.missing = set(gap.missing) - {sequence}
            if not gap.missing:
                self.open.remove(gap)

    def _cover(self, step: Step, stream: str) -> None:
        payload = payload_of(self._world, step.line)
        first, last = whole(payload.get("gap_from")), whole(payload.get("gap_to"))
        for gap in list(self.open):
            here = gap.stream == stream or (gap.session is not None and gap.session == step.scope.get("session_id"))
            named = (first is None or first <= gap.first) and (last is None or last >= gap.last)
            if here and named:
                self.open.remove(gap)
                self.covered.append(gap)
