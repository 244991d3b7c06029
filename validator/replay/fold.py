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
* subjects that are the *same* as the moved one in some fields are its siblings; a missing value equals nothing;
* members and siblings are its *kin*. What becomes of kin hangs on its state alone, so a row by which it stays as it is
  counts once for all in one state, and so does a refusal. A move of another is no news of those that stay;
* what was lost since a subject was last heard of may have brought it to any state that its table leads to.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Collection, Iterator

from validator.protocol.machine import NONE, SAME, Driver, Facts, Machine, Row
from validator.protocol.protocol import Protocol
from validator.replay.doubt import Names, Trusted
from validator.replay.faded import Faded, Subjects
from validator.replay.kin import Kin, Standing, counted_by, related_by, standing
from validator.replay.step import Move, Refusal, Step
from validator.replay.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 4096
"""Drivers of which it is remembered who lists them; a stream may make up as many as it likes."""


class _Listener:
    """A machine that lists a driver, with what is asked of it for every line: its subjects, and rows by state.

    Of a move into a state, the rows that wait for that state.
    """

    __slots__ = ("driver", "into", "keys", "machine", "name", "rows", "subjects", "sure", "ways")

    def __init__(
        self, machine: Machine, driver: Driver, subjects: Subjects, identities: tuple[str, ...], into: str | None = None
    ):
        self.machine, self.name, self.driver, self.into, self.subjects = machine, machine.name, driver, into, subjects
        self.keys = [(key, ",".join(key), len(key) == 1 and key[0] in identities) for key in machine.subject]
        """The ways to name a subject, and whether the ids that a line carries are enough for it."""
        rows = [row for row in machine.by_driver[driver] if into is None or into in row.into]
        ways = {(str(row.relation), row.via): row for row in reversed(rows)}
        self.ways = tuple(ways[way] for way in sorted(ways))
        """One row for each way in which subjects are related to a moved one."""
        self.rows: dict[str, tuple[Row, ...]] = {}
        for row in rows:
            for state in row.sources:
                self.rows[state] = (*self.rows.get(state, ()), row)
        self.sure = {state: first for state, (first, *more) in self.rows.items() if not (more or first.is_conditional)}
        """Rows that are taken whatever the line says."""


class Fold:
    """Replays the lines of one capture against a protocol's state tables."""

    def __init__(self, protocol: Protocol):
        self.protocol = protocol
        self.faded = Faded()
        self.subjects: dict[str, Subjects] = {name: Subjects(name, self.faded) for name in protocol.machines}
        self._open: dict[str, dict[str, Subject]] = {name: {} for name in protocol.machines}
        self._kin, self._holding = Kin(related_by(protocol.machines)), Kin(counted_by(protocol.machines))
        self.trusted = Trusted(protocol.order["key"])
        self._reached: dict[tuple[str, str], tuple[str, ...]] = {}
        self.lost: Callable[[dict[str, str]], int | None] = lambda _ids: None
        """The line before which something was lost that may concern these ids; a fold alone loses nothing."""
        self._heard: dict[tuple[str, str], tuple[_Listener, ...]] = {}
        self._woken: dict[tuple[str, str], tuple[_Listener, ...]] = {}
        self._lasting = {name for name, machine in protocol.machines.items() if _moved_when_over(machine)}

    def apply(self, line: dict[str, Any], number: int = 0) -> Step:
        """Moves whatever one line moves."""
        kind, name = self._driver(line)
        return self.drive(line, number, kind, name)

    def drive(self, line: dict[str, Any], number: int, kind: str, name: str | None) -> Step:
        """Moves whatever a line moves that is known as an event or record of a name."""
        scope = self.protocol.lens.scope(line)
        step = Step(line, number, type=name if kind == "event" else None, moves=[], refusals=[], scope=scope)
        listeners = self._heard.get((kind, name or ""))
        if listeners is None:
            listeners = self._hearing(Driver(kind, name or ""))
        queue: list[Move] = []
        for listener in listeners:
            first, by, carried = listener.keys[0]
            if carried and first[0] in scope:
                self._drive(step, listener, scope[first[0]], by, scope, None, queue)
            else:
                for key, by in self._subjects_of_line(listener, step):
                    self._drive(step, listener, key, by, scope, None, queue)
        # A list may grow while it is gone through.
        for moved in queue:
            for listener in self._waking(moved):
                origin = self.subjects[moved.machine][moved.subject]
                for row in listener.ways:
                    if row.relation == "owner":
                        for key, by in self._owners(listener.machine, row, origin, line):
                            self._drive(step, listener, key, by, {}, moved, queue)
                    else:
                        self._drive_kin(step, listener, row, origin, moved, queue)
        return step

    def _hearing(self, driver: Driver) -> tuple[_Listener, ...]:
        """The machines that list a driver."""
        machines, identities = self.protocol.listeners.get(driver, ()), self.protocol.lens.identities
        found = tuple(_Listener(machine, driver, self.subjects[machine.name], identities) for machine in machines)
        if len(self._heard) < _MOST:
            self._heard[driver.kind, driver.name] = found
        return found

    def _waking(self, moved: Move) -> tuple[_Listener, ...]:
        """The machines of which a row waits for a move into this state."""
        key = (moved.machine, moved.target)
        found = self._woken.get(key)
        if found is None:
            driver, identities = Driver("move", moved.machine), self.protocol.lens.identities
            listeners = (
                _Listener(machine, driver, self.subjects[machine.name], identities, moved.target)
                for machine in self.protocol.listeners.get(driver, ())
            )
            found = self._woken[key] = tuple(listener for listener in listeners if listener.rows)
        return found

    def place(self, subject: Subject) -> None:
        """Takes in a subject as it stands, whatever brought it there."""
        self.subjects[subject.machine][subject.key] = subject
        self._note(self.protocol.machines[subject.machine], subject, standing(subject))

    def open_subjects(self) -> Iterator[Subject]:
        """Subjects that are neither over nor uncertain, containers included."""
        for subjects in self._open.values():
            yield from subjects.values()

    def open_work(self) -> Iterator[Subject]:
        """Open subjects of the machines that count as work."""
        return (subject for subject in self.open_subjects() if self.protocol.machines[subject.machine].work)

    def open_in(self, machine: str, state: str, name: str, value: str) -> Subject | None:
        """The first of those in an open state with an identity by which a table counts them; none that is in doubt."""
        return self._holding.first(machine, (name,), (value,), (state, False))

    def lose(self, names: Names) -> None:
        """Puts in doubt what something lost in a stream or, without a name, in any can concern."""
        for subject in self.trusted.lose(names):
            before, subject.doubted = standing(subject), True
            self._kin.enter(subject, before)
            self._holding.enter(subject, before)

    def _driver(self, line: dict[str, Any]) -> tuple[str, str | None]:
        record = line.get("record")
        if record is not None:
            return "record", str(line.get("model") if record == "snapshot" else record)
        return "event", self.protocol.type_of(line)

    def _subjects_of_line(self, listener: _Listener, step: Step) -> list[tuple[str, str]]:
        """The subjects that a line speaks about, each with the key by which it was found."""
        lens, line, scope = self.protocol.lens, step.line, step.scope
        for key, by, carried in listener.keys:
            if carried:
                if key[0] in scope:
                    return [(scope[key[0]], by)]
                continue
            if len(key) == 1 and "[]" in key[0]:
                values = [value for value in lens.each(line, key[0]) if isinstance(value, str)]
            else:
                parts = [lens.get(line, path) for path in key]
                values = ["|".join(map(str, parts))] if all(isinstance(part, str) for part in parts) else []
            if values:
                return [(value, by) for value in values]
        return []

    def _owners(self, machine: Machine, row: Row, origin: Subject, line: dict[str, Any]) -> Iterator[tuple[str, str]]:
        for path in row.via or tuple(key[0] for key in machine.subject if len(key) == 1):
            key = origin.scope.get(path) or self.protocol.lens.get(line, path)
            if isinstance(key, str):
                yield key, path
                return

    def _drive_kin(
        self, step: Step, listener: _Listener, way: Row, origin: Subject, moved: Move, queue: list[Move]
    ) -> None:
        """Moves the members or siblings of a moved subject; those that stay as they are are not looked at singly.

        Nor does anything become of those that a loss may have brought to a state in which a row begins: the move of
        another does not tell to which.
        """
        machine = listener.machine
        if way.relation == "member":
            fields, values = (origin.by,), (origin.key,)
        else:
            fields = tuple(way.relation)
            values = tuple(origin.scope[name] for name in fields if name in origin.scope)
        for (state, doubted), group in self._kin.of(listener.name, fields, values):
            first = next((subject for subject in itertools.islice(group.values(), 2) if subject is not origin), None)
            if first is None:
                continue
            row = listener.sure.get(state)
            if row is not None and row.target in (SAME, state):
                step.stays += (Move(listener.name, first.key, state, state, row),)
            elif state in listener.rows or not machine.is_open(state):
                for subject in list(group.values()):
                    if subject is not origin:
                        self._drive(step, listener, subject.key, subject.by, {}, moved, queue)
            elif not doubted or listener.rows.keys().isdisjoint(self._reach(machine, state)):
                facts = self._facts(step.line, machine, first.key, first.by, moved)
                self._refuse(step, listener, first.key, first, facts, group)

    def _drive(
        self,
        step: Step,
        listener: _Listener,
        key: str,
        by: str,
        scope: dict[str, str],
        moved: Move | None,
        queue: list[Move],
    ) -> None:
        subject = listener.subjects.get(key)
        state = before = NONE if subject is None else subject.state
        row = listener.sure.get(state)
        if row is None:
            facts = self._facts(step.line, listener.machine, key, by, moved)
            row = _held(listener, state, facts)
            if row is None:
                row, before = self._after_a_loss(listener, subject, step, facts)
            if row is None:
                self._refuse(step, listener, key, subject, facts)
                return
        if subject is None:
            subject = Subject(listener.name, sys.intern(key), NONE, by)
            listener.subjects[subject.key] = subject
        elif subject.faded and not subject.heard:
            subject.by = by
            listener.subjects[subject.key] = subject
        target, doubted = before if row.target == SAME else row.target, subject.doubted
        subject.state, subject.doubted, subject.heard = target, False, step.number
        met = subject.meet(scope)
        move = Move(listener.name, key, state, target, row)
        step.moves.append(move)
        if target != state:
            subject.history.append(step.number)
            queue.append(move)
        if met or doubted or target != state:
            self._note(listener.machine, subject, (state, doubted))

    def _refuse(
        self,
        step: Step,
        listener: _Listener,
        key: str,
        subject: Subject | None,
        facts: Facts,
        beside: Collection[str] = (),
    ) -> None:
        machine, driver = listener.machine, listener.driver
        if (subject is not None or self._is_own(machine, driver)) and machine.lists(driver, facts):
            state = NONE if subject is None else subject.state
            clause = machine.nearest(driver, state, facts, listener.into).clause
            step.refusals.append(Refusal(machine.name, key, state, driver, clause, beside))

    def _after_a_loss(
        self, listener: _Listener, subject: Subject | None, step: Step, facts: Facts
    ) -> tuple[Row | None, str]:
        """A row that what was lost since a subject was last heard of can have led to, and the state before it."""
        if subject is None:
            return None, NONE
        since = self.lost(subject.scope or step.scope)
        if since is None or since <= max(subject.heard, subject.history[-1] if subject.history else 0):
            return None, subject.state
        for state in self._reach(listener.machine, subject.state):
            row = _held(listener, state, facts)
            if row is not None:
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

    def _note(self, machine: Machine, subject: Subject, before: Standing) -> None:
        """Keeps the open subjects apart: questions about them cost what is open, not what there ever was."""
        self._kin.enter(subject, before)
        if machine.is_open(subject.state):
            self._open[machine.name][subject.key] = subject
            self._holding.enter(subject, before)
            self.trusted.enter(subject)
        elif self._open[machine.name].pop(subject.key, None) is not None:
            self._holding.leave(subject, before)
            self.trusted.leave(subject)

    def fade(self, line: int, spared: set[str]) -> tuple[set[str], set[str]]:
        """Lets subjects fade that are no open work and were not heard of since a line.

        Says which ids are still known (of what is kept, of what it was seen with, and what the caller spares), and
        which subjects faded.
        """
        known = spared.copy()
        for subject in self.open_work():
            known.add(subject.key)
            known.update(subject.scope.values())
        gone: set[str] = set()
        for name in self.protocol.machines.keys() - self._lasting:
            quiet = [one for one in self.subjects[name].values() if one.heard < line and one.key not in known]
            for subject in quiet:
                # A container or a place in a queue stays for what it holds.
                if subject.key not in self._open[name] or known.isdisjoint(subject.scope.values()):
                    self._forget(subject)
                    gone.add(subject.key)
        left = known.copy()
        for name, subjects in self.subjects.items():
            work = self._open[name] if self.protocol.machines[name].work else {}
            for subject in subjects.values():
                if subject.key not in work:
                    left.add(subject.key)
                    left.update(subject.scope.values())
        return left, gone

    def _forget(self, subject: Subject) -> None:
        self.faded.keep(subject)
        del self.subjects[subject.machine][subject.key]
        self._open[subject.machine].pop(subject.key, None)
        self._kin.leave(subject, standing(subject))
        self._holding.leave(subject, standing(subject))
        self.trusted.leave(subject)

    def _is_own(self, machine: Machine, driver: Driver) -> bool:
        family = self.protocol.family_of.get(driver.name, driver.name) if driver.kind == "event" else driver.name
        return driver.kind != "move" and family in machine.owns

    def _facts(self, line: dict[str, Any], machine: Machine, key: str, by: str, moved: Move | None) -> Facts:
        """Answers the conditions of rows about one subject."""

        def fact(path: str) -> Any:
            if path.startswith("open."):
                return self._open_fact(path.removeprefix("open."), machine, key)
            if path == "move.from":
                return moved.source if moved else None
            if path == "subject.by":
                return by
            return self.protocol.lens.get(line, path)

        return fact

    def _open_fact(self, what: str, machine: Machine, key: str) -> str:
        """`some` when other open subjects of a machine, or those in one open state of it, belong to this one."""
        name, _, wanted = what.partition(".")
        for (state, _), group in self._holding.of(name, (machine.subject[0][0],), (key,)):
            if wanted in ("", state) and (len(group) > 1 or name != machine.name or key not in group):
                return "some"
        return "none"


def _held(listener: _Listener, state: str, facts: Facts) -> Row | None:
    """The row that a driver takes from a state, if its condition holds."""
    for row in listener.rows.get(state, ()):
        if row.holds(facts):
            return row
    return None


def _moved_when_over(machine: Machine) -> bool:
    """True when a member or sibling that is over can still be moved by what happens to another."""
    rows = (row for row in machine.rows if row.relation != "owner" and row.target != SAME)
    return any(not machine.is_open(source) for row in rows for source in row.sources)
