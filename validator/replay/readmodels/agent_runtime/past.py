"""The replay as it stood at an earlier line: what a snapshot that claims a sequence is compared with.

Most captures hold no snapshot, and a snapshot can claim a sequence that lies behind the line it stands on. So steps
are kept back and replayed only when somebody asks, up to the sequence that is claimed and no further. At most `KEPT`
steps wait; beyond that the oldest are taken in. What was taken in cannot be taken back: a claim below it is not judged.

What was taken in is kept for the sessions heard of last, `TAKEN` events together; the session heard of longest ago
goes first, and one that alone has more is given up. Claims of a session that went are not judged.
"""

from __future__ import annotations

from array import array
from collections import deque
from typing import Any

from validator.protocol.machine import NONE
from validator.protocol.protocol import Protocol
from validator.replay.doubt import Doubt
from validator.replay.readmodels.agent_runtime import ReadModels
from validator.replay.seen import Noted, short
from validator.replay.step import Step
from validator.replay.subject import Subject

KEPT = 500
"""Steps that wait to be replayed, at most."""
TAKEN = 20_000
"""Events that the read models of all sessions hold together, at most."""
HEARD = ("event", "command", "result")


class Past:
    """A world that is moved by steps another world has taken; it knows nothing of what comes after them."""

    def __init__(self, protocol: Protocol):
        self.protocol = protocol
        self._doubt = Doubt(protocol.order["key"])
        self._subjects: dict[str, dict[str, Subject]] = {name: {} for name in protocol.machines}
        self._told: dict[str | None, dict[tuple[str, str], None]] = {}
        """The subjects that the events of each session moved."""
        self.models = ReadModels(self)

    def subjects(self, machine: str) -> dict[str, Subject]:
        return self._subjects.get(machine, {})

    def state(self, machine: str, key: str | None) -> str | None:
        subject = self.subjects(machine).get(key or "")
        return subject.state if subject else None

    def apply(self, step: Step, found_by: dict[tuple[str, str], str]) -> None:
        """Repeats the moves of a step, then shows it to the read models."""
        if step.place is not None:
            if step.place.verdict == "gap" and self.protocol.order["gaps"] in {"repair_marker", "forbidden"}:
                self.doubt(step.number, step.scope)
            if step.place.verdict == "first" and (step.place.sequence or 0) > 1:
                self._doubt.begin_midway(self._doubt.names(step.scope))
        for move in step.moves:
            name = (move.machine, move.subject)
            subject = self._subjects[move.machine].setdefault(
                move.subject, Subject(*name, NONE, found_by.get(name, ""))
            )
            self._told.setdefault(self.session_of(step), {})[name] = None
            if move.row.driver.kind != "move":
                subject.scope = {**step.scope, **subject.scope}
            subject.state, subject.doubted = move.target, False
            if move.source != move.target:
                subject.history.append(step.number)
        self.models.apply(step)

    def session_of(self, step: Step) -> str | None:
        """The session that an event names, or that of the event before it."""
        return step.scope.get("session_id", self.models.current)

    def forget(self, session: str | None) -> None:
        """Drops a session and the subjects that its events moved."""
        self.models.forget(session)
        for machine, key in self._told.pop(session, ()):
            self._subjects[machine].pop(key, None)

    def doubt(self, number: int, ids: dict[str, str] | None = None) -> None:
        """Open work of a stream, or of all, can no longer be proved to stand where it stood."""
        names = self._doubt.names(ids or {})
        self._doubt.lose(number, names)
        for name, machine in self.protocol.machines.items():
            for subject in self._subjects[name].values():
                if machine.is_open(subject.state) and self._doubt.concerns(names, subject.scope):
                    subject.doubted = True

    def lost(self, ids: dict[str, str] | None = None) -> int | None:
        """The line before which something was lost that may concern these ids."""
        return self._doubt.since(ids)

    def midway(self, ids: dict[str, str] | None = None) -> bool:
        """True when what these ids stand for may have begun before the capture."""
        return self._doubt.is_midway(ids)


class Replay:
    """A ledger that can tell what the read models of the core say at the sequence a snapshot claims."""

    def __init__(self, world: Any):
        self._world = world
        self.past = Past(world.protocol)
        self._waiting: deque[tuple[Step | None, int, dict[tuple[str, str], str]]] = deque()
        self._doubt: int | None = None
        self._current: str | None = None
        self._counts = world.protocol.name == "agent-runtime"
        self.reached: dict[str | None, tuple[int, int]] = {}
        """The highest sequence of each session, and its line."""
        self.streams: dict[str | None, set[str | None]] = {}
        self._runs: dict[str | None, array[int]] = {}
        """First and last line of each stretch of a session, one after the other."""
        self._taken: dict[str | None, int] = {}
        """Events of each session that the read models hold, the session heard of last being the last."""
        self._held = 0
        self._gone = Noted()

    def apply(self, step: Step) -> None:
        """Keeps a step back until somebody asks for it."""
        self._note_doubt(step)
        session = self._session_of(step)
        self.remember(session, step.number)
        if step.kind not in HEARD or not self._counts:
            return
        if step.place is not None and step.place.sequence is not None:
            self.reached[session] = max(self.reached.get(session, (0, 0)), (step.place.sequence, step.number))
            self.streams.setdefault(session, set()).add(step.place.stream)
        by = {(move.machine, move.subject): self._by(move) for move in step.moves if move.source == NONE}
        self._waiting.append((step, step.number, by))
        while len(self._waiting) > KEPT:
            self._take()

    def _by(self, move: Any) -> str:
        return self._world.subjects(move.machine)[move.subject].by

    def _note_doubt(self, step: Step) -> None:
        """A line that could not be read is no step; what it put in doubt is noted before the next one."""
        since = self._world.lost()
        if since is not None and since not in (self._doubt, step.number):
            self._waiting.append((None, since, {}))
        self._doubt = since

    def _session_of(self, step: Step) -> str | None:
        if step.kind == "event" and self._counts:
            self._current = step.scope.get("session_id", self._current)
            return self._current
        return None

    def remember(self, session: str | None, number: int) -> None:
        """Notes a line as one that a claim of a session rests on."""
        runs = self._runs.setdefault(session, array("I"))
        if runs and runs[-1] == number - 1:
            runs[-1] = number
        else:
            runs.extend((number, number))

    def lines(self, session: str | None, before: int) -> tuple[int, ...]:
        """Every line so far that is no event of another session; of no session, every line."""
        wanted = self._runs if session is None else {session, None} & self._runs.keys()
        runs = [run for key in wanted for run in zip(self._runs[key][::2], self._runs[key][1::2], strict=True)]
        return tuple(sorted(number for first, last in runs for number in range(first, last + 1) if number < before))

    def _take(self) -> None:
        step, number, by = self._waiting.popleft()
        if step is None:
            self.past.doubt(number)
            return
        session = self.past.session_of(step)
        if step.kind == "event" and self.is_gone(session):
            self.past.models.current = session
            return
        self.past.apply(step, by)
        if step.kind == "event":
            self._taken[session] = self._taken.pop(session, 0) + 1
            self._held += 1
            self._make_room()

    def _make_room(self) -> None:
        """Gives up the sessions heard of longest ago while the read models hold too much."""
        while self._held > TAKEN:
            session = next(iter(self._taken))
            self._held -= self._taken.pop(session)
            self._gone.note(_name(session), 0, 0)
            self.past.forget(session)
            for table in (self.reached, self.streams, self._runs):
                table.pop(session, None)

    def is_gone(self, session: str | None) -> bool:
        """True for a session that was given up; for no session, when any was."""
        return bool(self._gone) and (session is None or self._gone.get(_name(session)) is not None)

    def at(self, session: str | None, sequence: int | None, before: int) -> Past | None:
        """The replay up to a sequence of a session, or of everything before a line; None when it has gone on."""
        last = self._last_needed(session, sequence, before)
        for _ in range(last):
            self._take()
        if self.is_gone(session):
            return None
        gone_to = self.past.models.sequence(session)
        if sequence is None:
            return self.past
        if gone_to is None or gone_to > sequence or len(self.streams.get(session, ())) != 1:
            return None
        return self.past

    def _last_needed(self, session: str | None, sequence: int | None, before: int) -> int:
        """How many waiting steps belong to what is asked for."""
        if sequence is None:
            return sum(number < before for _, number, _ in self._waiting)
        needed, current = 0, self.past.models.current
        for place, (step, number, _) in enumerate(self._waiting, 1):
            if step is None or step.kind != "event":
                needed = place if number < before else needed
                continue
            current = step.scope.get("session_id", current)
            if current != session or step.place is None or step.place.sequence is None:
                continue
            if step.place.sequence > sequence:
                break
            needed = place
        return needed


def _name(session: str | None) -> int:
    return short(f"session {session}" if session is not None else "")
