"""What the ordering rules remember about streams: how they count, what is missing, when the runtime came back."""

from __future__ import annotations

from typing import Any

from validator.protocol.formats import parse_date_time
from validator.records import dataclass
from validator.replay.faded import Lines
from validator.replay.step import Step

SILENT_RETURN = {"channel.connected", "channel.disconnected", "channel.resumed"}
"""Events about the connection itself; they are not what a gap has swallowed the like of."""
_FOLLOWED = 1024
RECOVERED = {"history.window.loaded", "history.reconstructed", "snapshot.repaired"}


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


class Counts:
    """How each stream arrives: stretches that run behind, restarts in between, and events that do not count."""

    forgets = ("_arrived", "_uncounted")

    def __init__(self, world: Any):
        self._world = world
        self._arrived: dict[str, tuple[int, int, bool]] = {}
        self._counting = world.protocol.order["sequence"] == "recommended"
        self._uncounted = Lines()
        self.restart: int | None = None
        """The line at which the runtime was last started again."""
        self.continues = False
        """This event is one of a stretch whose first was already behind."""
        self.after_restart = False
        """This event is the first of its stream since a restart."""
        self.first_uncounted = False
        """This event is the first of its stream without a sequence."""

    def alike(self, step: Step) -> bool:
        return not self.after_restart

    def apply(self, step: Step) -> None:
        if step.kind == "restart":
            self.restart = step.number
        place = step.place
        if place is None:
            return
        stream = place.stream or ""
        sequence, line, late = self._arrived.get(stream, (None, 0, False))
        behind = place.verdict in {"behind", "same"}
        self.continues = behind and late and sequence is not None and place.sequence == sequence + 1
        self.after_restart = sequence is not None and self.restart is not None and self.restart > line
        self.first_uncounted = self._counting and "sequence" not in step.line and stream not in self._uncounted
        if self.first_uncounted:
            self._uncounted.add(stream)
        if place.sequence is not None:
            self._arrived[stream] = (place.sequence, step.number, behind)


def in_step(step: Step, world: Any, context: Any) -> tuple[bool, ...] | None:
    """The key of an event that simply comes next in its stream; what is asked of its place depends on no more."""
    place = step.place
    if place is None or place.verdict != "next" or step.repeats is not None or step.reused is not None:
        return None
    counts, counted = world.ledger(Counts), "sequence" in step.line
    return world.protocol.lens.get(step.line, "event_id") is not None, counted, counts.after_restart


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

    heeds_last = False

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


class Clocks:
    """The last timestamp of each stream."""

    forgets = ("_last",)

    def __init__(self, world: Any):
        self._world = world
        self._last: dict[str, tuple[str, int]] = {}
        self.before: int | None = None
        """The line whose timestamp is later than this one's."""
        self.compared = False

    def alike(self, step: Step) -> bool:
        return self.compared

    def apply(self, step: Step) -> None:
        self.before, self.compared = None, False
        place = step.place
        if place is None or place.stream is None or place.verdict in {"behind", "same"}:
            return
        text = self._world.protocol.lens.get(step.line, "timestamp")
        if not isinstance(text, str):
            return
        last = self._last.get(place.stream)
        if last is not None:
            self.compared = True
            if _earlier(text, last[0]):
                self.before = last[1]
        self._last[place.stream] = (text, step.number)


def _earlier(text: str, other: str) -> bool:
    if len(text) == len(other) and text[-1] == other[-1] == "Z":
        # Two instants of one shape are ordered like their characters.
        return text < other and parse_date_time(text) is not None and parse_date_time(other) is not None
    one, two = parse_date_time(text), parse_date_time(other)
    return one is not None and two is not None and one < two


class Recoveries:
    """Sessions that were under way when the runtime was started again, until it says what it recovered."""

    forgets = ("_known", "_silent")

    def __init__(self, world: Any):
        self._world = world
        self._known: dict[str, int] = {}
        self._silent: dict[str, int] = {}
        self._restart = 0
        self.early: tuple[int, int] | None = None
        """Work goes on in this step before anything was said: the last line before the restart, and the restart."""
        self.said = False
        """This step says what was recovered."""

    def alike(self, step: Step) -> bool:
        return self.early is None

    def apply(self, step: Step) -> None:
        self.early, self.said = None, False
        if step.kind == "restart":
            self._restart = step.number
            self._silent = dict(self._known)
        if step.kind != "event":
            return
        session = step.scope.get("session_id")
        if step.type in RECOVERED:
            self.said = bool(self._silent)
            for name in [session] if session else list(self._silent):
                self._silent.pop(name, None)
        elif session in self._silent and self._works(step):
            self.early = (self._silent.pop(session), self._restart)
        if session is not None:
            self._known[session] = step.number

    def _works(self, step: Step) -> bool:
        machines = self._world.protocol.machines
        return any(machines[move.machine].work and machines[move.machine].is_open(move.target) for move in step.moves)
