"""The state tables at work: an event takes its rows, and what has no row is refused.

The tables are the contract's; this interpreter is the runtime's own. An event drives each machine that lists it, a
subject that changed its state drives the machines that list that move, and so on until nothing moves. One refusal
refuses the event.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reference_runtime.errors import IllegalMove
from reference_runtime.facts.record import Record
from reference_runtime.facts.scope import thread_of
from reference_runtime.facts.unit import Unit
from validator.protocol.machine import NONE, Driver, Machine, Row


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


Found = tuple[str, str]
"""The key of a subject, and the path by which it was found."""


class Drive:
    """One event on its way through the tables."""

    def __init__(self, unit: Unit, event: dict[str, Any]):
        self._unit, self._event = unit, event
        self._protocol, self._lens = unit.protocol, unit.protocol.lens
        self._scope = unit.carried(event)
        self.moves: list[Move] = []

    def run(self) -> list[Move]:
        """Every row the event takes; raises IllegalMove when one is missing."""
        waiting: deque[Move] = deque()
        driver = self._driver()
        for machine in self._protocol.listeners.get(driver, ()):
            for found in self._subjects(machine):
                self._take(machine, found, driver, None, waiting)
        while waiting:
            moved = waiting.popleft()
            driver = Driver("move", moved.machine.name)
            for machine in self._protocol.listeners.get(driver, ()):
                for found in self._related(machine, moved):
                    self._take(machine, found, driver, moved, waiting)
        return self.moves

    def _driver(self) -> Driver:
        """An event drives by its type, a record line by the kind of record it tells."""
        kind = self._event.get("record")
        if kind is None:
            return Driver("event", self._protocol.type_of(self._event) or "")
        return Driver("record", self._event["model"] if kind == "snapshot" else kind)

    def _subjects(self, machine: Machine) -> list[Found]:
        for paths in machine.subject:
            if keys := self._keys(paths):
                by = ",".join(paths)
                return [(key, by) for key in keys]
        return []

    def _keys(self, paths: tuple[str, ...]) -> list[str]:
        if "[]" in paths[0]:
            return [key for key in self._lens.each(self._event, paths[0]) if isinstance(key, str)]
        parts = [self._lens.get(self._event, path) for path in paths]
        for part in parts:
            if not isinstance(part, str):
                return []
        return ["|".join(parts)]

    def _related(self, machine: Machine, moved: Move) -> Iterator[Found]:
        rows = [row for row in machine.by_driver[Driver("move", moved.machine.name)] if moved.target in row.into]
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
            key = moved.record.scope.get(path) or self._lens.get(self._event, path)
            if isinstance(key, str):
                yield key, path
                return

    def _take(self, machine: Machine, found: Found, driver: Driver, moved: Move | None, waiting: deque[Move]) -> None:
        key, by = found
        state = self._unit.state(machine.name, key)
        into = moved.target if moved else None

        def facts(path: str) -> Any:
            return self._fact(path, machine, key, by, moved)

        row = machine.row_for(driver, state, facts, into)
        if row is None:
            if state != NONE or self._owned(machine, driver):
                clause = machine.nearest(driver, state, facts, into).clause
                raise IllegalMove(machine.name, key, state, str(driver), clause)
            return
        target = row.lands(state)
        move = Move(machine, self._place(machine, key, target, moved is None), state, row, target)
        self.moves.append(move)
        if target != state:
            waiting.append(move)

    def _place(self, machine: Machine, key: str, state: str, named: bool) -> Record:
        record = self._unit.edit(machine.name, key)
        record.state, record.open = state, machine.is_open(state)
        record.session = record.session or self._scope.get("session_id")
        if named:
            record.thread = record.thread or thread_of(self._unit, self._event)
            if not self._scope.keys() <= record.scope.keys():
                record.scope = {**self._scope, **record.scope}
        record.data.pop("doubted", None)
        return record

    def _owned(self, machine: Machine, driver: Driver) -> bool:
        if driver.kind == "record":
            return driver.name in machine.owns
        return driver.kind == "event" and self._protocol.family_of.get(driver.name) in machine.owns

    def _fact(self, path: str, machine: Machine, key: str, by: str, moved: Move | None) -> Any:
        if path.startswith("open."):
            return self._open(path.removeprefix("open."), machine, key)
        if path == "move.from":
            return moved.source if moved else None
        return by if path == "subject.by" else self._lens.get(self._event, path)

    def _open(self, what: str, machine: Machine, key: str) -> str:
        kind, _, state = what.partition(".")
        owned = self._unit.find(kind, is_open=True, **{machine.subject[0][0]: key})
        others = (r for r in owned if (not state or r.state == state) and (kind, r.id) != (machine.name, key))
        return "some" if any(others) else "none"
