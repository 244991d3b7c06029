"""The world as it stood at an earlier line, and what is kept of events to get there."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Sequence

from validator.capture.encode import unpack
from validator.protocol.machine import NONE
from validator.protocol.protocol import Protocol
from validator.replay.doubt import Doubt
from validator.replay.step import Move, Place, Step, Stretch
from validator.replay.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from validator.replay.readmodels.agent_runtime.ledger import ReadModels

NOTHING: dict[Any, Any] = {}
NO_ANSWER: tuple[str, Any] = ("", None)
_KEPT = ("number", "type", "place", "scope", "moves", "line", "found_by", "acknowledged")
make = tuple.__new__
"""Makes a named tuple of a tuple: an event of every line is kept, and the call by names takes twice as long."""


class Kept(namedtuple("Kept", _KEPT, defaults=(None, None, NOTHING, (), b"", NOTHING, NO_ANSWER))):
    """One event of a session, or the answer to `ack_events` about one of its channels."""

    __slots__ = ()

    number: int
    type: str | None
    place: Place | None
    scope: dict[str, str]
    moves: Sequence[Move]
    line: bytes | dict[str, Any]
    found_by: dict[tuple[str, str], str]
    """How the subjects that the event introduced were found."""
    acknowledged: tuple[str, Any]
    """The channel, and the sequence; an event acknowledges none of any channel."""

    @property
    def sequence(self) -> int | None:
        return self.place.sequence if self.place else None

    def step(self) -> Step:
        """The step as it was taken."""
        line = unpack(self.line)
        return Step(line, self.number, type=self.type, place=self.place, moves=self.moves, scope=self.scope)


class Repeated(namedtuple("Repeated", ("number", "like", "sequence", "line"))):
    """An event that repeats another but for its place, its time and its text; read like what is kept of others."""

    __slots__ = ()

    number: int
    like: Step
    sequence: int
    line: bytes

    acknowledged = NO_ANSWER
    found_by = NOTHING

    def step(self) -> Step:
        """The step as it was taken."""
        like, sequence = self.like, self.sequence
        place = Place(like.place.stream, sequence, sequence - 1, "next")
        return Step(unpack(self.line), self.number, type=like.type, place=place, moves=like.moves, scope=like.scope)


def unrolled(stretch: Stretch) -> list[Repeated]:
    """The events of a stretch, one by one."""
    like, number, sequence = stretch.like, stretch.number, stretch.sequence
    return [make(Repeated, (number + place, like, sequence + place, line)) for place, line in enumerate(stretch.lines)]


class Past:
    """A world that is moved by steps another world has taken; it knows nothing of what comes after them."""

    def __init__(self, protocol: Protocol):
        self.protocol = protocol
        self._doubt = Doubt(protocol.order["key"])
        self._subjects: dict[str, dict[str, Subject]] = {name: {} for name in protocol.machines}
        self._told: dict[str | None, dict[tuple[str, str], None]] = {}
        """The subjects that the events of each session moved."""

    @functools.cached_property
    def models(self) -> ReadModels:
        """Made when a step is shown to them, because most captures hold no snapshot."""
        from validator.replay.readmodels.agent_runtime.ledger import ReadModels

        return ReadModels(self)

    def subjects(self, machine: str) -> dict[str, Subject]:
        return self._subjects.get(machine, {})

    def state(self, machine: str, key: str | None) -> str | None:
        subject = self.subjects(machine).get(key or "")
        return subject.state if subject else None

    def apply(self, session: str | None, kept: Kept | Repeated) -> None:
        """Repeats the moves of an event, then shows it to the read models."""
        if kept.acknowledged[0]:
            self.models.acknowledge(*kept.acknowledged, session)
            return
        step, found_by = kept.step(), kept.found_by
        if step.place.verdict == "gap" and self.protocol.order["gaps"] in {"repair_marker", "forbidden"}:
            self.doubt(step.number, step.scope)
        if step.place.verdict == "first" and (step.place.sequence or 0) > 1:
            self._doubt.begin_midway(self._doubt.names(step.scope))
        for move in step.moves:
            name = (move.machine, move.subject)
            subject = self._subjects[move.machine].setdefault(
                move.subject, Subject(*name, NONE, found_by.get(name, ""))
            )
            self._told.setdefault(session, {})[name] = None
            if move.row.driver.kind != "move":
                subject.scope = {**step.scope, **subject.scope}
            subject.state, subject.doubted = move.target, False
        self.models.current = session
        self.models.apply(step)

    def forget(self, session: str | None) -> None:
        """Drops a session and the subjects that its events moved."""
        if "models" in self.__dict__:  # or nothing was shown to them
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
