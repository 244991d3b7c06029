"""How streams arrive: what the rules about order ask of every event, found out in one place."""

from __future__ import annotations

from validator.protocol.formats import parse_date_time
from validator.replay.faded import Lines
from validator.replay.step import Step
from validator.rules.ordering._reconnects import TELLING, Reconnects
from validator.rules.ordering._streams import Gaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECOVERED = {"history.window.loaded", "history.reconstructed", "snapshot.repaired"}


class _Stream:
    """The last event of a stream that counts, and the last that has a time."""

    __slots__ = ("late", "line", "sequence", "stamp", "stamped")

    def __init__(self) -> None:
        self.sequence: int | None = None
        self.line = 0
        self.late = False
        """It was behind."""
        self.stamp: str | None = None
        self.stamped = 0
        """The line of the last time."""


class Arrivals:
    """Count and clock of each stream, its gaps, who came back to it, and what a restart has left untold."""

    forgets = ("_streams", "_uncounted", "_known", "_silent", "_confirmed")

    def __init__(self, world: Any):
        self._world = world
        lens = world.protocol.lens
        self.event_id, self._timestamp = lens.reader("event_id"), lens.reader("timestamp")
        self._streams: dict[str, _Stream] = {}
        self._counting = world.protocol.order["sequence"] == "recommended"
        self._markers = frozenset(world.protocol.order.get("repair", ()))
        self._uncounted = Lines()
        self.restart: int | None = None
        """The line at which the runtime was last started again."""
        self.continues = False
        """This event is one of a stretch whose first was already behind."""
        self.after_restart = False
        """This event is the first of its stream since a restart."""
        self.first_uncounted = False
        """This event is the first of its stream without a sequence."""
        self.later: int | None = None
        """The line before this one whose timestamp is later than this one's."""
        self.compared = False
        """This event has a time, and so has one before it."""
        self.gaps, self.reconnects = Gaps(world), Reconnects(world)
        self._confirmed = self.reconnects.confirmed
        self._known: dict[str, int] = {}
        """Sessions to the last line that spoke of them."""
        self._silent: dict[str, int] = {}
        """Those under way when the runtime was started again, until it says what it recovered."""
        self.early: tuple[int, int] | None = None
        """Work goes on in this step before anything was said: the last line before the restart, and the restart."""
        self.said = False
        """This step says what was recovered."""
        self.is_plain = True
        """Its time does not run back, no return ends with it, and nothing is said or left out about a recovery."""

    def alike(self, step: Step) -> bool:
        settled = not self.after_restart and self.early is None and self.reconnects.ended is None
        return settled and self.compared

    def apply(self, step: Step) -> None:
        self.early, self.said, self.later, self.is_plain = None, False, None, True
        if step.kind != "event":
            if step.kind == "restart":
                self.restart, self._silent = step.number, dict(self._known)
            self.gaps.apply(step)
            self.reconnects.apply(step)
            return
        self._follow(step)
        session, reconnects = step.scope.get("session_id"), self.reconnects
        if reconnects.open or reconnects.ended is not None or step.type in TELLING:
            reconnects.apply(step)
            self.is_plain = self.is_plain and reconnects.ended is None
        if self._silent or step.type in RECOVERED:
            self._recover(step, session)
            self.is_plain = self.is_plain and not self.said and self.early is None
        if session is not None:
            self._known[session] = step.number

    def _follow(self, step: Step) -> None:
        """Takes in where an event stands in its stream, and when it happened."""
        place, number = step.place, step.number
        name, verdict = place.stream or "", place.verdict
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = _Stream()
        behind, last = verdict in {"behind", "same"}, stream.sequence
        self.continues = behind and stream.late and last is not None and place.sequence == last + 1
        self.after_restart = self.restart is not None and last is not None and self.restart > stream.line
        self.first_uncounted = False
        if self._counting and "sequence" not in step.line and name not in self._uncounted:
            self.first_uncounted = True
            self._uncounted.add(name)
        if place.sequence is not None:
            stream.sequence, stream.line, stream.late = place.sequence, number, behind
        self.compared = False
        if not behind and place.stream is not None:
            stamp, before = self._timestamp(step.line), stream.stamp
            if isinstance(stamp, str):
                if before is not None:
                    self.compared = True
                    if _earlier(stamp, before):
                        self.later, self.is_plain = stream.stamped, False
                stream.stamp, stream.stamped = stamp, number
        gaps = self.gaps
        if verdict != "next" or gaps.covered or step.type in self._markers or gaps.waits(name):
            gaps.apply(step)

    def _recover(self, step: Step, session: str | None) -> None:
        if step.type in RECOVERED:
            self.said = bool(self._silent)
            for name in [session] if session else list(self._silent):
                self._silent.pop(name, None)
        elif session in self._silent and self._works(step):
            self.early = (self._silent.pop(session), self.restart)

    def _works(self, step: Step) -> bool:
        machines = self._world.protocol.machines
        return any(machines[move.machine].work and machines[move.machine].is_open(move.target) for move in step.moves)


def _earlier(text: str, other: str) -> bool:
    # Two instants of one shape and zone are ordered like their characters, but for the letter between day and hour.
    alike = len(text) == len(other) and text[10:11] == other[10:11]
    if alike and text >= other and (text[-1:] == other[-1:] == "Z" or text[-6:] == other[-6:]):
        return False
    one, two = parse_date_time(text), parse_date_time(other)
    return one is not None and two is not None and one < two


def in_step(step: Step, world: Any, context: Any) -> tuple[Any, ...] | None:
    """The key of an event that begins its stream or comes next in it; what is asked of its place depends on no more."""
    place, arrivals = step.place, world.ledger(Arrivals)
    if place is None or step.reused is not None or not arrivals.is_plain:
        return None
    if place.verdict != "next" and (place.verdict != "first" or place.sequence > 1):
        return None
    has_id, counted = arrivals.event_id(step.line) is not None, "sequence" in step.line
    return place.verdict, has_id, counted, arrivals.after_restart, arrivals.compared
