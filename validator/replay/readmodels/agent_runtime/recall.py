"""The replay as it stood at an earlier line: what a snapshot that claims a sequence is compared with.

Most captures hold no snapshot, and a snapshot can claim a sequence that lies behind the line it stands on. So steps
are only kept, in few bytes, and those of a session are replayed when somebody asks for it: up to the sequence that is
claimed and no further. What was replayed cannot be taken back: a claim below it is not judged.

The sessions heard of last are kept, `TAKEN` events together; the session heard of longest ago goes first, and one that
alone has more is given up. Claims of a session that went are not judged.
"""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Iterator

from validator.protocol.honest import known
from validator.protocol.machine import NONE
from validator.replay.readmodels.agent_runtime.past import NO_ANSWER, NOTHING, Kept, Past, Repeated, make, unrolled
from validator.replay.readmodels.agent_runtime.records import as_record
from validator.replay.seen import Noted, short
from validator.replay.step import Step, Stretch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TAKEN = 20_000
"""Events of all sessions that are kept together, at most."""
_AT_ONCE = 256
"""Events that are taken in together: one by one they take twice as long, because the code is needed anew each time."""

_New = tuple[str | None, str | None, int | None, Kept | Stretch | None, tuple[str, ...]]
"""Session, stream and sequence of an event, what is kept of it, if anything, and the channels that it moved.

A stretch stands for all of its events.
"""


class _Session:
    """What is known of a session."""

    __slots__ = ("events", "reached", "reached_at", "rolled", "runs", "streams", "waiting")

    def __init__(self) -> None:
        self.events = 0
        """Its events that are kept or were replayed."""
        self.waiting: deque[Kept | Repeated | Stretch] | None = None
        """What was not replayed yet."""
        self.rolled = False
        """Some of it may be a stretch."""
        self.reached: int | None = None
        """Its highest sequence, and the line of it."""
        self.reached_at = 0
        self.streams: set[str | None] = set()
        self.runs = array("I")
        """First and last line of each stretch of it, one after the other."""

    def reach(self, stream: str | None, sequence: int | None, number: int, count: int = 1) -> None:
        """Takes in where an event of it stands, the first of some that follow one another, or a line that is none."""
        runs, last = self.runs, number + count - 1
        if runs and runs[-1] == number - 1:
            runs[-1] = last
        else:
            runs.append(number)
            runs.append(last)
        if sequence is not None:
            sequence += count - 1
            if self.reached is None or sequence >= self.reached:
                self.reached, self.reached_at = sequence, last
            self.streams.add(stream)


class Replay:
    """A ledger that can tell what the read models of the core say at the sequence a snapshot claims."""

    def __init__(self, world: Any):
        self._world = world
        self.past = Past(world.protocol)
        self._new: list[_New] = []
        """The events that came since somebody last asked."""
        self._waiting: dict[str | None, deque[Kept | Repeated | Stretch]] = {}
        self._doubts: deque[int] = deque()
        self._doubt: int | None = None
        self._losses = 0
        """The losses of which the last is noted."""
        self._current: str | None = None
        self._counts = world.protocol.name == "agent-runtime"
        self._asked: dict[str, str] = {}
        """Channels about which an `ack_events` waits for its answer."""
        self._channels: dict[str, dict[str | None, None]] = {}
        """The sessions whose events moved a channel."""
        self._sessions: defaultdict[str | None, _Session] = defaultdict(_Session)
        self._kept: dict[str | None, _Session] = {}
        """Those of which events are kept or were replayed, the session heard of last being the last."""
        self._latest: _Session | None = None
        self._held = 0
        self._gone = Noted()

    def apply(self, step: Step) -> None:
        """Keeps an event until somebody asks for it."""
        if self._world.losses != self._losses:
            self._losses = self._world.losses
            self._note_doubt(self._world.lost(), step.number)
        if self._counts and step.kind == "event":
            self._keep(step)
            return
        self.remember(None, step.number)
        if self._counts and step.line.get("command") == "ack_events":
            self._acknowledge(step)

    def echo(self, told: list[Stretch]) -> None:
        """Keeps events that repeat others."""
        if not self._counts:
            for stretch in told:
                self._sessions[None].reach(None, None, stretch.number, len(stretch.lines))
            return
        self._current = told[-1].like.scope["session_id"]
        for stretch in told:
            like = stretch.like
            self._note(like.scope["session_id"], like.place.stream, stretch.sequence, stretch, ())

    def pass_by(self, session: str | None) -> None:
        """Counts an event that is not kept but takes its room: one of a session judged elsewhere, or a repetition."""
        if session is not None:
            self._note(session, None, None, None, ())

    def _note(self, *entry: Any) -> None:
        new = self._new
        new.append(entry)
        if len(new) >= _AT_ONCE:
            self._settle()

    def _settle(self) -> None:
        """Takes in the events that came since somebody last asked, in their order."""
        new, self._new = self._new, []
        known: _Session | None = None
        """The session of the event before, as long as it is the one heard of last and more may wait of it."""
        last: str | None = None
        for session, stream, sequence, kept, channels in new:
            if type(kept) is Stretch:
                known = self._take_in_stretch(session, stream, kept)
            elif known is not None and session == last and kept is not None and not channels:
                known.reach(stream, sequence, kept[0])
                known.waiting.append(kept)
                known.events += 1
                self._held += 1
                if self._held > TAKEN:
                    self._make_room()
                    known = None
            else:
                known = self._take_in(session, stream, sequence, kept, channels)
            last = session

    def _take_in_stretch(self, session: str | None, stream: str | None, stretch: Stretch) -> _Session | None:
        """Takes in the events of a stretch: together, where they make no difference to one another."""
        count, known = len(stretch.lines), self._sessions.get(session)
        if known is not None and not known.events and self._is_given_up(session):
            known.reach(stream, stretch.sequence, stretch.number, count)
            return None
        if known is None or known.waiting is None or known.events + count > TAKEN:
            for one in unrolled(stretch):
                known = self._take_in(session, stream, one.sequence, one, ())
            return known
        known.reach(stream, stretch.sequence, stretch.number, count)
        known.waiting.append(stretch)
        known.rolled = True
        # Others go for all of them or for each: it is the same ones.
        self._count(session, known, count)
        return known

    def _take_in(
        self,
        session: str | None,
        stream: str | None,
        sequence: int | None,
        kept: Kept | Repeated | None,
        channels: tuple[str, ...],
    ) -> _Session | None:
        """Takes in one event; its session, where more may wait of it."""
        if kept is None:
            if not self._is_given_up(session):
                self._count(session, self._sessions[session])
            return None
        known = self._reach(session, stream, sequence, kept[0])
        if (session is None or not known.events) and self._is_given_up(session):
            return None
        for channel in channels:
            self._channels.setdefault(channel, {})[session] = None
        waiting = known.waiting
        if waiting is None:
            waiting = self._wait(session, known)
        waiting.append(kept)
        self._count(session, known)
        return known if session is not None and session in self._kept else None

    def _reach(self, session: str | None, stream: str | None, sequence: int | None, number: int) -> _Session:
        known = self._sessions[session]
        known.reach(stream, sequence, number)
        return known

    def reached(self, session: str | None) -> tuple[int, int] | None:
        """The highest sequence of a session, and its line."""
        self._settle()
        known = self._sessions.get(session)
        return None if known is None or known.reached is None else (known.reached, known.reached_at)

    def _keep(self, step: Step) -> None:
        session = self._current = step.scope.get("session_id", self._current)
        place, found_by, channels = step.place, NOTHING, ()
        for move in step.moves:
            if move.source == NONE:
                by = self._world.subjects(move.machine)[move.subject].by
                found_by = {**found_by, (move.machine, move.subject): by}
            if move.machine == "channel":
                channels = (*channels, move.subject)
        line = step.packed() if step.raw is None else step.raw
        kept = (step.number, step.type, place, step.scope, step.moves, line, found_by, NO_ANSWER)
        self._note(session, place.stream, place.sequence, make(Kept, kept), channels)

    def _count(self, session: str | None, known: _Session, count: int = 1) -> None:
        known.events += count
        if known is not self._latest:
            self._kept.pop(session, None)
            self._kept[session] = self._latest = known
        self._held += count
        if self._held > TAKEN:
            self._make_room()

    def _wait(self, session: str | None, known: _Session) -> deque[Kept | Repeated]:
        """What waits of a session of which nothing waited; events before the first that is named belong to it."""
        unnamed = self._kept.pop(None, None) if session is not None else None
        waiting = known.waiting = self._waiting[session] = self._waiting.pop(None, None) or deque()
        if unnamed is not None:
            known.events, unnamed.events, unnamed.waiting = unnamed.events, 0, None
            # Nobody has named a session yet, so every channel is one of none, but for those of the event at hand.
            for sessions in self._channels.values():
                if None in sessions:
                    sessions[session] = sessions.pop(None)
        return waiting

    def _acknowledge(self, step: Step) -> None:
        """An answer counts for the sessions that know the channel; it is no event, and makes no document newer."""
        line, command = step.line, str(step.line.get("command_id"))
        if step.kind == "command":
            channel = as_record(line.get("request")).get("channel_id")
            if isinstance(channel, str):
                self._asked[command] = channel
            return
        channel, result = self._asked.pop(command, None), as_record(line.get("result"))
        if channel is None or result.get("outcome") != "accepted":
            return
        self._settle()
        told = (channel, known(result.get("last_acknowledged_sequence")))
        for session in self._channels.get(channel, ()):
            self._waiting[session].append(Kept(step.number, acknowledged=told))

    def _note_doubt(self, since: int | None, number: int) -> None:
        """A line that could not be read is no step; what it put in doubt is noted before the next one."""
        if since is not None and since not in (self._doubt, number):
            self._doubts.append(since)
        self._doubt = since

    def remember(self, session: str | None, number: int) -> None:
        """Notes a line as one that a claim of a session rests on."""
        self._settle()
        self._reach(session, None, None, number)

    def lines(self, session: str | None, before: int) -> Iterator[int]:
        """Every line so far that is no event of another session; of no session, every line. In no order."""
        self._settle()
        for key in self._sessions if session is None else {session, None} & self._sessions.keys():
            runs = self._sessions[key].runs
            for first, last in zip(runs[::2], runs[1::2], strict=True):
                yield from range(first, min(last + 1, before))

    def _make_room(self) -> None:
        """Gives up the sessions heard of longest ago while too many events are kept."""
        while self._held > TAKEN:
            session = next(iter(self._kept))
            self._held -= self._kept.pop(session).events
            self._gone.note(_name(session), 0, 0)
            self._waiting.pop(session, None)
            self.past.forget(session)
            self._sessions.pop(session, None)
            for channel in [name for name, sessions in self._channels.items() if session in sessions]:
                del self._channels[channel][session]
                if not self._channels[channel]:
                    del self._channels[channel]

    def is_gone(self, session: str | None) -> bool:
        """True for a session that was given up; for no session, when any was."""
        self._settle()
        return self._is_given_up(session)

    def _is_given_up(self, session: str | None) -> bool:
        if session is not None and session in self._kept:
            return False
        return bool(self._gone) and (session is None or self._gone.get(_name(session)) is not None)

    def at(self, session: str | None, sequence: int | None, before: int, *, alone: bool = True) -> Past | None:
        """The replay up to a sequence of a session, or of everything before a line; None when it has gone on.

        Other sessions are replayed up to the same line unless the session is asked for alone.
        """
        self._settle()
        until = before if sequence is None else self._replay(session, sequence, before)
        if sequence is None or not alone:
            self._replay_all(until)
        if self.is_gone(session):
            return None
        gone_to = self.past.models.sequence(session)
        if sequence is None:
            return self.past
        known = self._sessions.get(session)
        if gone_to is None or gone_to > sequence or known is None or len(known.streams) != 1:
            return None
        return self.past

    def _replay_all(self, before: int) -> None:
        # Whoever claims less afterwards, in whatever session, finds that it has been passed.
        self._world.mingled = True
        from heapq import merge  # few captures ask for more than one session

        for kept, session in list(merge(*self._before(before), key=lambda entry: entry[0].number)):
            self._take(session, kept)
        self._doubt_until(before)

    def _unroll(self, session: str | None) -> deque[Kept | Repeated]:
        """What waits of a session, each event by itself."""
        known, waiting = self._sessions.get(session), self._waiting.get(session, deque())
        if known is not None and known.rolled:
            each = [one for kept in waiting for one in (unrolled(kept) if type(kept) is Stretch else (kept,))]
            waiting.clear()
            waiting.extend(each)
            known.rolled = False
        return waiting

    def _before(self, before: int) -> list[list[tuple[Kept | Repeated, str | None]]]:
        """What waits of each session and stands before a line, no longer waiting."""
        found = []
        for session in self._waiting:
            taken, waiting = [], self._unroll(session)
            while waiting and waiting[0].number < before:
                taken.append((waiting.popleft(), session))
            found.append(taken)
        return found

    def _replay(self, session: str | None, sequence: int, before: int) -> int:
        """Replays a session up to a sequence; the line before which nothing contradicts it."""
        waiting = self._unroll(session)
        needed, until = 0, before
        for place, kept in enumerate(waiting, 1):
            if kept.acknowledged[0]:
                needed = place if kept.number < before else needed
            elif kept.sequence is not None:
                if kept.sequence > sequence:
                    until = min(before, kept.number)
                    break
                needed = place
        for _ in range(needed):
            self._take(session, waiting.popleft())
        self._doubt_until(until)
        return until

    def _take(self, session: str | None, kept: Kept | Repeated) -> None:
        self._doubt_until(kept.number)
        self.past.apply(session, kept)

    def _doubt_until(self, number: int) -> None:
        while self._doubts and self._doubts[0] < number:
            self.past.doubt(self._doubts.popleft())


def _name(session: str | None) -> int:
    return short(f"session {session}" if session is not None else "")
