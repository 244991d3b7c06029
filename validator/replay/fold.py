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
* what was lost since a subject was last heard of may have brought it to any state that its table leads to;
* subjects that are the *same* as the moved one in some fields are its siblings; a missing value equals nothing.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from validator.protocol.machine import NONE, SAME, Driver, Machine, Row
from validator.protocol.protocol import Protocol
from validator.replay.faded import Faded, Subjects
from validator.replay.kin import Kin, counted_by, related_by
from validator.replay.step import Move, Refusal, Step
from validator.replay.subject import Subject


@dataclass(slots=True)
class _Found:
    """A subject a driver speaks about, which may not exist yet."""

    key: str
    by: str
    scope: dict[str, str]


class _Listener:
    """A machine that lists a driver, with what is asked of it for every line: its subjects, and rows by state."""

    __slots__ = ("keys", "machine", "rows", "subjects")

    def __init__(self, machine: Machine, driver: Driver, subjects: Subjects, identities: tuple[str, ...]):
        self.machine, self.subjects = machine, subjects
        self.keys = [(key, ",".join(key), len(key) == 1 and key[0] in identities) for key in machine.subject]
        """The ways to name a subject, and whether the ids that a line carries are enough for it."""
        self.rows: dict[str, tuple[Row, ...]] = {}
        for row in machine.by_driver.get(driver, ()):
            for state in row.sources:
                self.rows[state] = (*self.rows.get(state, ()), row)


class Fold:
    """Replays the lines of one capture against a protocol's state tables."""

    def __init__(self, protocol: Protocol):
        self.protocol = protocol
        self.faded = Faded()
        self.subjects: dict[str, Subjects] = {name: Subjects(name, self.faded) for name in protocol.machines}
        self._open: dict[str, dict[str, Subject]] = {name: {} for name in protocol.machines}
        self._kin, self._holding = Kin(related_by(protocol.machines)), Kin(counted_by(protocol.machines))
        self._reached: dict[tuple[str, str], tuple[str, ...]] = {}
        self._waking: dict[tuple[str, str, str], tuple[Row, ...]] = {}
        self.lost: Callable[[dict[str, str]], int | None] = lambda _ids: None
        """The line before which something was lost that may concern these ids; a fold alone loses nothing."""
        self._heard: dict[tuple[str, str], tuple[Driver, tuple[_Listener, ...]]] = {}
        self._lasting = {name for name, machine in protocol.machines.items() if _moved_when_over(machine)}

    def apply(self, line: dict[str, Any], number: int = 0) -> Step:
        """Moves whatever one line moves."""
        step = Step(line, number, scope=self.protocol.lens.scope(line))
        driver, listeners = self._hearing(*self._driver(line))
        if not listeners:
            return step
        queue: deque[Move] = deque()
        for listener in listeners:
            for found in self._subjects_of_line(listener, step):
                self._drive(step, listener, found, driver, None, queue)
        while queue:
            moved = queue.popleft()
            driver, listeners = self._hearing("move", moved.machine)
            for listener in listeners:
                for found in self._subjects_of_move(listener.machine, moved, line):
                    self._drive(step, listener, found, driver, moved, queue)
        return step

    def _hearing(self, kind: str, name: str) -> tuple[Driver, tuple[_Listener, ...]]:
        """A driver, and the machines that list it."""
        found = self._heard.get((kind, name))
        if found is None:
            driver, identities = Driver(kind, name), self.protocol.lens.identities
            machines = self.protocol.listeners.get(driver, ())
            found = driver, tuple(_Listener(m, driver, self.subjects[m.name], identities) for m in machines)
            if machines:
                self._heard[kind, name] = found
        return found

    def place(self, subject: Subject) -> None:
        """Takes in a subject as it stands, whatever brought it there."""
        self.subjects[subject.machine][subject.key] = subject
        self._kin.enter(subject)
        self._note(self.protocol.machines[subject.machine], subject)

    def open_subjects(self) -> Iterator[Subject]:
        """Subjects that are neither over nor uncertain, containers included."""
        for subjects in self._open.values():
            yield from subjects.values()

    def open_work(self) -> Iterator[Subject]:
        """Open subjects of the machines that count as work."""
        return (subject for subject in self.open_subjects() if self.protocol.machines[subject.machine].work)

    def _driver(self, line: dict[str, Any]) -> tuple[str, str]:
        record = line.get("record")
        if record is not None:
            return "record", str(line.get("model") if record == "snapshot" else record)
        return "event", self.protocol.type_of(line) or ""

    def _subjects_of_line(self, listener: _Listener, step: Step) -> list[_Found]:
        lens, line, scope = self.protocol.lens, step.line, step.scope
        for key, by, carried in listener.keys:
            if carried:
                if key[0] in scope:
                    return [_Found(scope[key[0]], by, scope)]
                continue
            if len(key) == 1 and "[]" in key[0]:
                values = [value for value in lens.each(line, key[0]) if isinstance(value, str)]
            else:
                parts = [lens.get(line, path) for path in key]
                values = ["|".join(map(str, parts))] if all(isinstance(part, str) for part in parts) else []
            if values:
                return [_Found(value, by, scope) for value in values]
        return []

    def _subjects_of_move(self, machine: Machine, moved: Move, line: dict[str, Any]) -> Iterator[_Found]:
        rows = self._moved_by(machine, moved)
        if not rows:
            return
        origin = self.subjects[moved.machine][moved.subject]
        for row in rows:
            yield from self._related(machine, row, origin, line)

    def _moved_by(self, machine: Machine, moved: Move) -> tuple[Row, ...]:
        """Of the rows that a move into a state can wake, one for each way in which subjects are related to it."""
        key = (machine.name, moved.machine, moved.target)
        known = self._waking.get(key)
        if known is None:
            rows = [row for row in machine.by_driver[Driver("move", moved.machine)] if moved.target in row.into]
            ways = {(str(row.relation), row.via): row for row in reversed(rows)}
            known = self._waking[key] = tuple(ways[way] for way in sorted(ways))
        return known

    def _related(self, machine: Machine, row: Row, origin: Subject, line: dict[str, Any]) -> Iterator[_Found]:
        if row.relation == "owner":
            for path in row.via or tuple(key[0] for key in machine.subject if len(key) == 1):
                key = origin.scope.get(path) or self.protocol.lens.get(line, path)
                if isinstance(key, str):
                    yield _Found(key, path, {})
                    return
            return
        if row.relation == "member":
            fields, values = (origin.by,), (origin.key,)
        else:
            fields = tuple(row.relation)
            values = tuple(origin.scope[name] for name in fields if name in origin.scope)
        for subject in self._kin.of(machine.name, fields, values):
            if subject is not origin:
                yield _Found(subject.key, subject.by, {})

    def _drive(
        self, step: Step, listener: _Listener, found: _Found, driver: Driver, moved: Move | None, queue: deque[Move]
    ) -> None:
        machine = listener.machine
        subject = listener.subjects.get(found.key)
        state = subject.state if subject else NONE
        before = state
        into = moved.target if moved else None

        def facts(path: str) -> Any:
            return self._fact(path, step.line, machine, found, moved)

        for row in listener.rows.get(state, ()):
            if (into is None or into in row.into) and row.holds(facts):
                break
        else:
            row, before = self._after_a_loss(listener, subject, step, facts, into)
        if row is None:
            if subject is not None or self._is_own(machine, driver):
                clause = machine.nearest(driver, state, facts, into).clause
                step.refusals.append(Refusal(machine.name, found.key, state, driver, clause))
            return
        if subject is None:
            subject = Subject(machine.name, sys.intern(found.key), NONE, found.by)
            listener.subjects[subject.key] = subject
        elif subject.faded and not subject.heard:
            subject.by = found.by
            listener.subjects[subject.key] = subject
        subject.state, subject.doubted, subject.heard = row.lands(before), False, step.number
        met = subject.meet(found.scope)
        if met:
            self._kin.enter(subject)
        if subject.state != state:
            subject.history.append(step.number)
        if met or subject.state != state:
            self._note(machine, subject)
        move = Move(machine.name, found.key, state, subject.state, row)
        step.moves.append(move)
        if subject.state != state:
            queue.append(move)

    def _after_a_loss(
        self, listener: _Listener, subject: Subject | None, step: Step, facts: Any, into: str | None
    ) -> tuple[Row | None, str]:
        """A row that what was lost since a subject was last heard of can have led to, and the state before it."""
        if subject is None:
            return None, NONE
        since = self.lost(subject.scope or step.scope)
        if since is None or since <= max(subject.heard, subject.history[-1] if subject.history else 0):
            return None, subject.state
        for state in self._reach(listener.machine, subject.state):
            for row in listener.rows.get(state, ()):
                if (into is None or into in row.into) and row.holds(facts):
                    return row, state
        return None, subject.state

    def _reach(self, machine: Machine, state: str) -> tuple[str, ...]:
        """The states that a subject can come to from one, in the order of the table."""
        known = self._reached.get((machine.name, state))
        if known is None:
            found, waiting = {state}, [state]
            while waiting:
                source = waiting.pop()
                waiting += [
                    row.target for row in machine.rows if source in row.sources and row.target not in {*found, SAME}
                ]
                found.update(waiting)
            known = self._reached[machine.name, state] = tuple(name for name in machine.states if name in found)
        return known

    def _note(self, machine: Machine, subject: Subject) -> None:
        """Keeps the open subjects apart: questions about them cost what is open, not what there ever was."""
        if machine.is_open(subject.state):
            self._open[machine.name][subject.key] = subject
            self._holding.enter(subject)
        elif self._open[machine.name].pop(subject.key, None) is not None:
            self._holding.leave(subject)

    def fade(self, line: int, spared: set[str]) -> tuple[set[str], set[str]]:
        """Lets subjects fade that are no open work and were not heard of since a line.

        Says which ids are still known (of what is kept, of what it was seen with, and what the caller spares), and
        which subjects faded.
        """
        work = list(self.open_work())
        known = spared.union(*(subject.scope.values() for subject in work), (subject.key for subject in work))
        gone: set[str] = set()
        for name in self.protocol.machines.keys() - self._lasting:
            quiet = [one for one in self.subjects[name].values() if one.heard < line and one.key not in known]
            for subject in quiet:
                # A container or a place in a queue stays for what it holds.
                if subject.key not in self._open[name] or known.isdisjoint(subject.scope.values()):
                    self._forget(subject)
                    gone.add(subject.key)
        kept = [subject for subjects in self.subjects.values() for subject in subjects.values()]
        return known.union(*(subject.scope.values() for subject in kept), (subject.key for subject in kept)), gone

    def _forget(self, subject: Subject) -> None:
        self.faded.keep(subject)
        del self.subjects[subject.machine][subject.key]
        self._open[subject.machine].pop(subject.key, None)
        self._kin.leave(subject)
        self._holding.leave(subject)

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
        """`some` when other open subjects of a machine, or those in one open state of it, belong to this one."""
        name, _, state = what.partition(".")
        for subject in self._holding.of(name, (machine.subject[0][0],), (found.key,)):
            itself = name == machine.name and subject.key == found.key
            if not itself and (not state or subject.state == state):
                return "some"
        return "none"


def _moved_when_over(machine: Machine) -> bool:
    """True when a member or sibling that is over can still be moved by what happens to another."""
    rows = (row for row in machine.rows if row.relation != "owner" and row.target != SAME)
    return any(not machine.is_open(source) for row in rows for source in row.sources)
