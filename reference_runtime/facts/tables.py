"""The state tables at work: an event takes its rows, and what has no row is refused.

The tables are the contract's; this interpreter is the runtime's own. An event drives each machine that lists it, a
subject that changed its state drives the machines that list that move, and so on until nothing moves. One refusal
refuses the event.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reference_runtime.errors import IllegalMove
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from validator.protocol.envelope import Lens
from validator.protocol.machine import NONE, Driver, Machine, Row
from validator.protocol.protocol import Protocol


@dataclass(slots=True)  # made for every row taken, and a frozen one takes several times as long to make
class Move:
    """A subject took a row."""

    machine: Machine
    record: Record
    source: str
    row: Row
    target: str

    @property
    def changed(self) -> bool:
        return self.source != self.target

    @property
    def ended(self) -> bool:
        """True when work that was not over is over now."""
        return self.machine.is_terminal(self.target) and not self.machine.is_terminal(self.source)

    @property
    def reopened(self) -> bool:
        return self.machine.is_terminal(self.source) and not self.machine.is_terminal(self.target)


Line = dict[str, Any]
Found = tuple[str, str]
"""The key of a subject, and the path by which it was found."""
Finder = Callable[[Line], Sequence[Found]]


class Way(NamedTuple):
    """A row that may be taken from a state."""

    row: Row
    target: str
    into: tuple[str, ...]
    is_free: bool
    """It asks for nothing but its driver."""


class Listener(NamedTuple):
    """A machine that lists a driver."""

    name: str
    machine: Machine
    driver: Driver
    find: Finder
    rows: dict[str, tuple[Way, ...]]
    """By the state of a subject, the rows that the driver may take from there."""
    open: frozenset[str]
    """The states in which a subject is still at work."""


@functools.lru_cache(maxsize=4096)
def _listeners(protocol: Protocol, kind: str, name: str) -> tuple[Listener, ...]:
    """The machines that list a driver; what the tables say about it is looked up once."""
    driver = Driver(kind, name)
    return tuple(
        Listener(
            machine.name,
            machine,
            driver,
            _finder(protocol.lens, machine),
            _by_state(machine.by_driver[driver]),
            _open(machine),
        )
        for machine in protocol.listeners.get(driver, ())
    )


def _by_state(rows: tuple[Row, ...]) -> dict[str, tuple[Way, ...]]:
    states = {state for row in rows for state in row.sources}
    return {state: tuple(_way_from(state, row) for row in rows if state in row.sources) for state in states}


def _way_from(state: str, row: Row) -> Way:
    return Way(row, row.lands(state), row.into, not row.is_conditional)


def _open(machine: Machine) -> frozenset[str]:
    return frozenset(filter(machine.is_open, machine.states))


def _finder(lens: Lens, machine: Machine) -> Finder:
    """What finds the subjects of a machine: by the first of its alternatives that the line tells whole."""
    ways = tuple(_way(lens, paths) for paths in machine.subject)
    if len(ways) == 1:
        return ways[0]

    def find(line: Line) -> Sequence[Found]:
        for way in ways:
            if found := way(line):
                return found
        return ()

    return find


def _way(lens: Lens, paths: tuple[str, ...]) -> Finder:
    """One alternative: a list of keys, a key, or a key of several parts."""
    by = ",".join(paths)
    if "[]" in paths[0]:
        return lambda line: [(key, by) for key in lens.each(line, paths[0]) if isinstance(key, str)]
    readers = tuple(lens.reader(path) for path in paths)
    if len(readers) == 1:
        (read,) = readers
        return lambda line: ((key, by),) if isinstance(key := read(line), str) else ()

    def find(line: Line) -> Sequence[Found]:
        parts = [read(line) for read in readers]
        return (("|".join(parts), by),) if all(isinstance(part, str) for part in parts) else ()

    return find


class Drive:
    """One event on its way through the tables."""

    __slots__ = ("_event", "_protocol", "_scope", "_unit", "moves")

    def __init__(self, unit: Unit, event: Line):
        self._unit, self._event = unit, event
        self._protocol = unit.protocol
        self._scope = unit.carried
        self.moves: list[Move] = []

    def run(self) -> list[Move]:
        """Every row the event takes; raises IllegalMove when one is missing."""
        for listener in self._addressed():
            for key, by in listener.find(self._event):
                self._take(listener, key, by, None)
        for moved in self.moves:  # which grows meanwhile
            if moved.target == moved.source:
                continue
            for listener in _listeners(self._protocol, "move", moved.machine.name):
                for key, by in self._related(listener, moved):
                    self._take(listener, key, by, moved)
        return self.moves

    def _addressed(self) -> tuple[Listener, ...]:
        """An event drives by its type, a record line by the kind of record it tells."""
        kind = self._event.get("record")
        if kind is None:
            return _listeners(self._protocol, "event", self._protocol.type_of(self._event) or "")
        return _listeners(self._protocol, "record", self._event["model"] if kind == "snapshot" else kind)

    def _related(self, listener: Listener, moved: Move) -> Iterator[Found]:
        machine = listener.machine
        rows = [row for row in machine.by_driver[listener.driver] if moved.target in row.into]
        if not rows:
            return
        if rows[0].relation == "member":
            kin = self._unit.find(machine.name, **{moved.machine.subject[0][0]: moved.record.id})
        elif rows[0].relation != "owner":
            kin = self._siblings(machine, moved, rows[0].relation)
        else:
            yield from self._owners(machine, moved, rows[0])
            return
        for record in kin:
            yield record.id, machine.subject[0][0]

    def _siblings(self, machine: Machine, moved: Move, same: tuple[str, ...]) -> list[Record]:
        """Other subjects that are like the moved one in these fields; a missing value equals nothing."""
        values = {name: moved.record.link(name) for name in same}
        if None in values.values():
            return []
        return [record for record in self._unit.find(machine.name, **values) if record.key != moved.record.key]

    def _owners(self, machine: Machine, moved: Move, row: Row) -> Iterator[Found]:
        for path in row.via or tuple(paths[0] for paths in machine.subject):
            key = moved.record.scope.get(path) or self._protocol.lens.get(self._event, path)
            if isinstance(key, str):
                yield key, path
                return

    def _take(self, listener: Listener, key: str, by: str, moved: Move | None) -> None:
        machine = listener.machine
        known = self._unit.look(listener.name, key)
        state, into = known.state if known else NONE, moved.target if moved else None
        for row, target, leading, is_free in listener.rows.get(state, ()):
            if into is not None and into not in leading:
                continue
            if is_free or row.holds(functools.partial(self._fact, machine, key, by, moved)):
                self.moves.append(Move(machine, self._place(listener, key, target, moved is None), state, row, target))
                return
        if state != NONE or self._owned(machine, listener.driver):
            facts = functools.partial(self._fact, machine, key, by, moved)
            clause = machine.nearest(listener.driver, state, facts, into).clause
            raise IllegalMove(machine.name, key, state, str(listener.driver), clause)

    def _place(self, listener: Listener, key: str, state: str, named: bool) -> Record:
        record, scope = self._unit.edit(listener.name, key), self._scope
        record.state, record.open = state, state in listener.open
        if not record.session:
            record.session = scope.get("session_id")
        if named:
            if not record.thread:
                record.thread = self._unit.thread
            if not scope.keys() <= record.scope.keys():
                record.scope = {**scope, **record.scope}
        if "doubted" in record.data:
            del record.data["doubted"]
        return record

    def _owned(self, machine: Machine, driver: Driver) -> bool:
        if driver.kind == "record":
            return driver.name in machine.owns
        return driver.kind == "event" and self._protocol.family_of.get(driver.name) in machine.owns

    def _fact(self, machine: Machine, key: str, by: str, moved: Move | None, path: str) -> Any:
        if path.startswith("open."):
            return self._open(path.removeprefix("open."), machine, key)
        if path == "move.from":
            return moved.source if moved else None
        return by if path == "subject.by" else self._protocol.lens.get(self._event, path)

    def _open(self, what: str, machine: Machine, key: str) -> str:
        kind, _, state = what.partition(".")
        owned = self._unit.find(kind, is_open=True, **{machine.subject[0][0]: key})
        others = (r for r in owned if (not state or r.state == state) and (kind, r.id) != (machine.name, key))
        return "some" if any(others) else "none"
