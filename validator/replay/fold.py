"""The one pass: lines in, moves out.

Theory of operation ------------------- A line is an event or a record. It becomes a driver; every machine that lists
the driver is asked, in the order of their names, for the subject the line speaks about and for the row that the
subject's state allows. Each move is itself a driver (`move`), so it goes to the end of a queue and is handled the
same way: an action that becomes pending pauses its turn, and the paused turn blocks its thread. Chains end because a
move that changes nothing drives nothing.

The fold knows no event type. What moves is in the tables; this module only finds subjects:

* the subject of an event or record is the first of the table's keys that the line carries;
* an *owner* of a moved subject is found through the identities the moved subject was seen with;
* the *members* of a moved subject are those that were seen with its identity;
* subjects that are the *same* as the moved one in some fields are its siblings; a missing value equals nothing.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from validator.protocol.machine import NONE, Driver, Machine, Row
from validator.protocol.protocol import Protocol
from validator.replay.step import Move, Refusal, Step


@dataclass(slots=True)
class Subject:
    """One entity as far as the stream has told: its state, how it was found, and the identities it was seen with."""

    machine: str
    key: str
    state: str
    by: str
    scope: dict[str, str] = field(default_factory=dict)
    history: list[int] = field(default_factory=list)
    """Lines at which its state changed, the first being the one that introduced it."""
    doubted: bool = False
    """It was open when a gap or an unreadable line came, and nothing has been heard of it since."""

    def meet(self, scope: dict[str, str]) -> None:
        """Learns the identities it was not seen with before; equal ids of many subjects are one string."""
        for name, value in scope.items():
            if name not in self.scope:
                self.scope[name] = sys.intern(value)


@dataclass(frozen=True, slots=True)
class _Found:
    """A subject a driver speaks about, which may not exist yet."""

    key: str
    by: str
    scope: dict[str, str]


class Fold:
    """Replays the lines of one capture against a protocol's state tables."""

    def __init__(self, protocol: Protocol):
        self.protocol = protocol
        self.subjects: dict[str, dict[str, Subject]] = {name: {} for name in protocol.machines}
        self._open: dict[str, dict[str, Subject]] = {name: {} for name in protocol.machines}

    def apply(self, line: dict[str, Any], number: int = 0) -> Step:
        """Moves whatever one line moves."""
        step = Step(line, number, scope=self.protocol.lens.scope(line))
        driver = self._driver(line)
        if driver is None:
            return step
        queue: deque[Move] = deque()
        for machine in self.protocol.listeners.get(driver, ()):
            for found in self._subjects_of_line(machine, line):
                self._drive(step, machine, found, driver, None, queue)
        while queue:
            moved = queue.popleft()
            driver = Driver("move", moved.machine)
            for machine in self.protocol.listeners.get(driver, ()):
                for found in self._subjects_of_move(machine, moved, line):
                    self._drive(step, machine, found, driver, moved, queue)
        return step

    def open_subjects(self) -> Iterator[Subject]:
        """Subjects that are neither over nor uncertain, containers included."""
        for subjects in self._open.values():
            yield from subjects.values()

    def open_work(self) -> Iterator[Subject]:
        """Open subjects of the machines that count as work."""
        return (subject for subject in self.open_subjects() if self.protocol.machines[subject.machine].work)

    def _driver(self, line: dict[str, Any]) -> Driver | None:
        record = line.get("record")
        if record is not None:
            return Driver("record", str(line.get("model") if record == "snapshot" else record))
        event_type = self.protocol.type_of(line)
        return Driver("event", event_type) if event_type else None

    def _subjects_of_line(self, machine: Machine, line: dict[str, Any]) -> Iterator[_Found]:
        lens = self.protocol.lens
        scope = lens.scope(line)
        for key in machine.subject:
            if len(key) == 1 and "[]" in key[0]:
                values = [value for value in lens.each(line, key[0]) if isinstance(value, str)]
            else:
                parts = [lens.get(line, path) for path in key]
                values = ["|".join(map(str, parts))] if all(isinstance(part, str) for part in parts) else []
            if values:
                yield from (_Found(value, ",".join(key), scope) for value in values)
                return

    def _subjects_of_move(self, machine: Machine, moved: Move, line: dict[str, Any]) -> Iterator[_Found]:
        rows = [row for row in machine.by_driver[Driver("move", moved.machine)] if moved.target in row.into]
        if not rows:
            return
        origin = self.subjects[moved.machine][moved.subject]
        for relation, via in sorted({(str(row.relation), row.via) for row in rows}):
            row = next(row for row in rows if (str(row.relation), row.via) == (relation, via))
            yield from self._related(machine, row, origin, line)

    def _related(self, machine: Machine, row: Row, origin: Subject, line: dict[str, Any]) -> Iterator[_Found]:
        subjects = self.subjects[machine.name]
        if row.relation == "owner":
            for path in row.via or tuple(key[0] for key in machine.subject if len(key) == 1):
                key = origin.scope.get(path) or self.protocol.lens.get(line, path)
                if isinstance(key, str):
                    yield _Found(key, path, {})
                    return
        elif row.relation == "member":
            field_name = origin.by
            for subject in list(subjects.values()):
                if subject.scope.get(field_name) == origin.key:
                    yield _Found(subject.key, subject.by, {})
        else:
            for subject in list(subjects.values()):
                if subject is not origin and _same(subject, origin, row.relation):
                    yield _Found(subject.key, subject.by, {})

    def _drive(
        self, step: Step, machine: Machine, found: _Found, driver: Driver, moved: Move | None, queue: deque[Move]
    ) -> None:
        subject = self.subjects[machine.name].get(found.key)
        state = subject.state if subject else NONE
        into = moved.target if moved else None

        def facts(path: str) -> Any:
            return self._fact(path, step.line, machine, found, moved)

        row = machine.row_for(driver, state, facts, into)
        if row is None:
            if subject is not None or self._is_own(machine, driver):
                clause = machine.nearest(driver, state, facts, into).clause
                step.refusals.append(Refusal(machine.name, found.key, state, driver, clause))
            return
        if subject is None:
            subject = Subject(machine.name, sys.intern(found.key), NONE, found.by)
            self.subjects[machine.name][subject.key] = subject
        subject.meet(found.scope)
        subject.state = row.lands(state)
        subject.doubted = False
        if subject.state != state:
            subject.history.append(step.number)
            self._note(machine, subject)
        move = Move(machine.name, found.key, state, subject.state, row)
        step.moves.append(move)
        if subject.state != state:
            queue.append(move)

    def _note(self, machine: Machine, subject: Subject) -> None:
        """Keeps the open subjects apart: questions about them cost what is open, not what there ever was."""
        if machine.is_open(subject.state):
            self._open[machine.name][subject.key] = subject
        else:
            self._open[machine.name].pop(subject.key, None)

    def _is_own(self, machine: Machine, driver: Driver) -> bool:
        family = self.protocol.family_of.get(driver.name, driver.name) if driver.kind == "event" else driver.name
        return driver.kind != "move" and family in machine.owns

    def _fact(self, path: str, line: dict[str, Any], machine: Machine, found: _Found, moved: Move | None) -> Any:
        if path.startswith("open."):
            return self._open_fact(path.removeprefix("open."), machine, found)
        if path == "move.from":
            return moved.source if moved else None
        if path == "subject.by":
            return found.by
        return self.protocol.lens.get(line, path)

    def _open_fact(self, what: str, machine: Machine, found: _Found) -> str:
        """`some` when other open subjects of a machine, or those in one state of it, belong to this one."""
        name, _, state = what.partition(".")
        counted = self.protocol.machines[name]
        owner = machine.subject[0][0]
        known = self.subjects if state and not counted.is_open(state) else self._open
        for subject in known[name].values():
            itself = name == machine.name and subject.key == found.key
            matches = subject.state == state if state else counted.is_open(subject.state)
            if matches and not itself and subject.scope.get(owner) == found.key:
                return "some"
        return "none"


def _same(one: Subject, other: Subject, fields: tuple[str, ...]) -> bool:
    return all(name in one.scope and one.scope[name] == other.scope.get(name) for name in fields)
