"""State tables: what can move a subject, from where, to where, and which clause says so.

Theory of operation
-------------------
A machine is one YAML table. It describes one kind of subject (a turn, a task, a tool call), lists its states with a
kind each, and rows. A row is taken when all of this holds:

1. *Its driver occurs.* Three things drive: an event of a type (`event`), a record line (`record`), and the move of a
   subject of another machine (`move`, with the states it moved `into`). Nothing else ever moves a state.
2. *The subject's present state is in `from`.* `none` stands for a subject not seen before, so creation is a row as
   well.
3. *Its condition holds.* `when` maps a path to the values that satisfy it, `unless` to the values that do not; all
   entries must hold, and null stands for an absent value. Paths read the driving line through the protocol's lens
   (`payload.status`), or one of three facts the fold supplies: `open.<machine>` is `some` or `none` (other open
   subjects of that machine which this subject owns; `open.<machine>.<state>` counts those in one open state),
   `move.from` is the state a moved subject left, and `subject.by` is the key by which this subject was found, where the
   table gives alternatives.

A listed driver that finds no row is *refused*: the move is illegal, and the clause cited is that of the driver's
nearest row. There is one exception: a driver from outside the machine's own families (`owns`) says nothing about a
subject that was never seen, because captures may begin in the middle.

By `relation` a move reaches the owner of the moved subject, its members, or its siblings. Members and siblings in one
state are told of together: one row that leaves them as they are, or one refusal. That another moved is no news of
them, so what was in doubt stays so; and those that a loss may have brought elsewhere are not refused.

Kinds: *initial* and *active* states are at work, *waiting* ones need an act from outside, *uncertain* ones can no
longer be proved, *terminal* ones are over. A terminal state is left only by a row that says so (archive, retry,
supersede).

`to: same` confirms a state. It is a row like any other, so "progress while running" is legal and "progress while
completed" is not.

Tables are checked when loaded: known states, reachable states, a way out of every state that is not terminal, and no
two rows that could both be taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from operator import itemgetter

from validator.datafile import place_of, shown
from validator.errors import DefinitionError
from validator.protocol.definition import read_definition
from validator.protocol.schemas import SchemaStore
from validator.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

NONE = "none"
SAME = "same"

Facts = Callable[[str], object]
"""Answers a path with the value found there, or None."""


class Driver(tuple[str, str]):
    """What moves a subject: an event type, a record kind, or the machine whose subject moved."""

    __slots__ = ()
    kind, name = property(itemgetter(0)), property(itemgetter(1))

    def __new__(cls, kind: str, name: str) -> Driver:
        return tuple.__new__(cls, (kind, name))

    def __getnewargs__(self) -> tuple[str, ...]:
        return tuple(self)

    def __str__(self) -> str:
        return self.name if self.kind == "event" else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    machine: str
    index: int
    driver: Driver
    sources: tuple[str, ...]
    target: str
    clause: str
    into: tuple[str, ...] = ()
    relation: str | tuple[str, ...] = "owner"
    via: tuple[str, ...] = ()
    when: tuple[tuple[str, frozenset[Any]], ...] = ()
    unless: tuple[tuple[str, frozenset[Any]], ...] = ()

    @property
    def id(self) -> str:
        """A name for coverage reports: machine and position, counted from one."""
        return f"{self.machine}#{self.index + 1}"

    @property
    def is_conditional(self) -> bool:
        return bool(self.when or self.unless)

    def holds(self, facts: Facts) -> bool:
        """True when every condition of the row is satisfied."""
        for path, values in self.when:
            if _scalar(facts(path)) not in values:
                return False
        return not self.unless or not any(_scalar(facts(path)) in values for path, values in self.unless)

    def lands(self, state: str) -> str:
        """The state after the row was taken from `state`."""
        return state if self.target == SAME else self.target


_LISTED = (str, int)
"""What a table can list; a truth value is a number here."""


def _scalar(value: Any) -> Any:
    # An honest object, a list or a map is a value, but never one that a table can list.
    return value if value is None or isinstance(value, _LISTED) else object


@dataclass(frozen=True, slots=True)
class Machine:
    """A checked table, indexed by driver."""

    name: str
    title: str
    summary: str
    subject: tuple[tuple[str, ...], ...]
    work: bool
    owns: frozenset[str]
    states: dict[str, str]
    rows: tuple[Row, ...]
    by_driver: dict[Driver, tuple[Row, ...]] = field(default_factory=dict)

    def nearest(self, driver: Driver, state: str, facts: Facts, into: str | None = None) -> Row:
        """The row whose clause explains a refusal: one that only the state bars, else one only its condition bars.

        For a subject at work, the row by which a record leads to its status counts before one that introduces it.
        """
        rows = [row for row in self.by_driver[driver] if into is None or into in row.into]
        barred_by_state = [row for row in rows if row.holds(facts)]
        leading = (row for row in barred_by_state if NONE not in row.sources and row.target != SAME)
        barred_by_condition = (row for row in rows if state in row.sources)
        at_work = state != NONE and not self.is_terminal(state)
        led = next(leading, None) if at_work and driver.kind == "record" else None
        return led or next(iter(barred_by_state), None) or next(barred_by_condition, None) or rows[0]

    def lists(self, driver: Driver, facts: Facts) -> bool:
        """True unless a record says a word that no row of the table has; what it may say is a matter of its schema."""
        said = ([pair for pair in row.when if pair[0].startswith("record.")] for row in self.by_driver[driver])
        return driver.kind != "record" or any(
            all(_scalar(facts(path)) in values for path, values in pairs) for pairs in said
        )

    def is_terminal(self, state: str) -> bool:
        return self.states.get(state) == "terminal"

    def is_open(self, state: str) -> bool:
        """True for work that someone still has to finish: neither over nor honestly uncertain."""
        return self.states.get(state) in {"initial", "active", "waiting"}


def load_machine(file: str | Path, store: SchemaStore) -> Machine:
    """Reads one table and refuses it unless it is sound."""
    data = read_definition(file, "machine", store)
    rows = tuple(_row(data["machine"], index, entry) for index, entry in enumerate(data["moves"]))
    by_driver: dict[Driver, tuple[Row, ...]] = {}
    for row in rows:
        by_driver[row.driver] = (*by_driver.get(row.driver, ()), row)
    machine = Machine(
        name=data["machine"],
        title=data["title"],
        summary=data.get("summary", ""),
        subject=tuple((key,) if isinstance(key, str) else tuple(key) for key in data["subject"]),
        work=data["work"],
        owns=frozenset(data["owns"]),
        states=data["states"],
        rows=rows,
        by_driver=by_driver,
    )
    path = os.fspath(file)
    if store.definitions.are_proved(path):
        return machine
    if os.path.basename(path) != f"{machine.name}.yaml":
        raise DefinitionError(f"the machine is named {machine.name}, the file is not", source=shown(path))
    for pointer, reason in problems(machine):
        raise DefinitionError(reason, source=shown(path), place=place_of(path, pointer))
    return machine


def _row(machine: str, index: int, entry: dict[str, Any]) -> Row:
    kind = "event" if "event" in entry else "record" if "record" in entry else "move"
    relation = entry.get("relation", "owner")
    return Row(
        machine=machine,
        index=index,
        driver=Driver(kind, entry[kind]),
        sources=tuple(entry["from"]),
        target=entry["to"],
        clause=entry["clause"],
        into=tuple(entry.get("into", ())),
        relation=tuple(relation["same"]) if isinstance(relation, dict) else relation,
        via=tuple(entry.get("via", ())),
        when=_condition(entry.get("when", {})),
        unless=_condition(entry.get("unless", {})),
    )


def _condition(entry: dict[str, list[Any]]) -> tuple[tuple[str, frozenset[Any]], ...]:
    return tuple([(path, frozenset(values)) for path, values in entry.items()]) if entry else ()


def problems(machine: Machine) -> Iterator[tuple[list[str | int], str]]:
    """Everything unsound about a table, each with its place in the file."""
    yield from _unknown_states(machine)
    yield from _unreachable_states(machine)
    yield from _dead_ends(machine)
    yield from _conflicts(machine)


def _unknown_states(machine: Machine) -> Iterator[tuple[list[str | int], str]]:
    for reserved in {NONE, SAME} & machine.states.keys():
        yield ["states", reserved], f"{reserved} is not a state"
    for row in machine.rows:
        place: list[str | int] = ["moves", row.index]
        for source in row.sources:
            if source != NONE and source not in machine.states:
                yield [*place, "from"], f"{source} is not a state of {machine.name}"
        if row.target != SAME and row.target not in machine.states:
            yield [*place, "to"], f"{row.target} is not a state of {machine.name}"
        if row.target == SAME and NONE in row.sources:
            yield [*place, "to"], "a subject not seen before has no same state"
        if row.into and row.driver.kind != "move":
            yield [*place, "into"], "only a move has states it moved into"


def _unreachable_states(machine: Machine) -> Iterator[tuple[list[str | int], str]]:
    reached = {NONE}
    while True:
        more = {row.target for row in machine.rows if row.target != SAME and reached & set(row.sources)} - reached
        if not more:
            break
        reached |= more
    for state in machine.states.keys() - reached:
        yield ["states", state], f"no row leads to {state}"


def _dead_ends(machine: Machine) -> Iterator[tuple[list[str | int], str]]:
    for state, kind in machine.states.items():
        leaves = any(state in row.sources and row.target not in {SAME, state} for row in machine.rows)
        if kind != "terminal" and not leaves:
            yield ["states", state], f"{state} is {kind} but no row leaves it"


def _conflicts(machine: Machine) -> Iterator[tuple[list[str | int], str]]:
    for rows in machine.by_driver.values():
        for position, row in enumerate(rows):
            for other in rows[position + 1 :]:
                shared = set(row.sources) & set(other.sources)
                if shared and _overlap(row.into, other.into) and not _disjoint(row, other):
                    reason = f"rows {row.index + 1} and {other.index + 1} can both be taken from {min(shared)}"
                    yield ["moves", other.index], reason


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return not one or not other or bool(set(one) & set(other))


def _disjoint(one: Row, other: Row) -> bool:
    """True when no line satisfies both rows' conditions."""
    for path, values in one.when:
        for path2, values2 in other.when:
            if path == path2 and not values & values2:
                return True
    return _excluded(one, other) or _excluded(other, one)


def _excluded(one: Row, other: Row) -> bool:
    return any(path == path2 and values <= barred for path, values in one.when for path2, barred in other.unless)
