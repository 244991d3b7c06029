"""Drives the pairs whose driver is the move of another subject.

Golden captures hold few of these pairs, so both subjects are placed: this one in its state, the other one where a row
of its own table leads to the move, related as the table demands, and a third one where the table asks whether others
are open. A golden line then moves the other one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.conformance.drives import (
    Cue,
    Drive,
    Stand,
    around,
    cues,
    fits,
    golden_lines,
    key_of,
    meets,
    new_world,
    open_facts,
    put,
    told_about,
)
from validator.protocol.machine import NONE, Driver, Machine, Row
from validator.protocol.protocol import Protocol
from validator.replay.subject import Subject
from validator.replay.world import World

OWN, OTHER, THIRD, FIRST = "driven_own", "driven_other", "driven_third", "driven_first"


@dataclass(frozen=True, slots=True)
class Placed:
    """The states of the subject, of the one that moves, and of a third one; and how the first two are related."""

    own: str
    other: str
    third: str | None
    relation: str | tuple[str, ...]
    path: str
    """Where the one that moves names its owner."""


def move_drives(protocol: Protocol, machine: Machine, state: str, driver: Driver, into: str) -> Iterator[Drive]:
    """A legal and an illegal drive of a pair, each in the first surroundings that make it so."""
    done: set[bool] = set()
    origin = protocol.machines[driver.name]
    rows = [row for row in machine.by_driver[driver] if state in row.sources and into in row.into]
    possible = 2 if any(row.when or row.unless for row in rows) else 1
    for placed in _placements(machine, origin, driver, state):
        for line in _lines(protocol, origin, placed, into):
            drive = _drive(protocol, machine, driver, placed, into, line)
            if drive and drive.legal not in done:
                done.add(drive.legal)
                yield drive
            if len(done) == possible:
                return


def _placements(machine: Machine, origin: Machine, driver: Driver, state: str) -> Iterator[Placed]:
    kinds = dict.fromkeys((row.relation, row.via) for row in machine.by_driver[driver])
    asked = [path.split(".")[1:] for path in open_facts(machine)]
    active = next((name for name, kind in origin.states.items() if kind in {"active", "waiting"}), None)
    thirds = [None, *(state[0] if state else active for name, *state in asked if name == origin.name)]
    for (relation, via), other, third in itertools.product(kinds, (*origin.states, NONE), thirds):
        for path in via or tuple(key[0] for key in machine.subject if len(key) == 1):
            # Members and siblings are looked up among the subjects that exist.
            if state != NONE or relation == "owner":
                yield Placed(state, other, third, relation, path)


def _lines(protocol: Protocol, origin: Machine, placed: Placed, into: str) -> Iterator[dict[str, Any]]:
    """Golden lines, told about the one that moves, that lead it into a state by a row of its own table."""
    rows = [row for row in origin.rows if placed.other in row.sources and row.lands(placed.other) == into]
    for row in rows if into != placed.other else ():
        if row.driver.kind == "move":
            yield from _first_lines(protocol, origin, row)
            continue
        for cue in cues(protocol.id, origin.name, row.driver):
            if row.index in cue.rows and len(cue.by.split(",")) == 1:
                yield _related(protocol, told_about(protocol, origin, cue, Stand(), OTHER), placed)


def _first_lines(protocol: Protocol, origin: Machine, row: Row) -> Iterator[dict[str, Any]]:
    """Lines that introduce a subject whose move is what moves the other one."""
    first = protocol.machines[row.driver.name]
    for opening in first.rows:
        if opening.driver.kind != "move" and NONE in opening.sources and opening.target in row.into:
            fitting = (line for line in golden_lines(protocol, opening.driver) if meets(protocol, row, line))
            for line in itertools.islice(fitting, 1):
                cue = Cue(line, str(key_of(protocol, first, line)), frozenset())
                line = told_about(protocol, first, cue, Stand(), FIRST)
                put(protocol, line, origin.subject[0][0], OTHER)
                yield line


def _related(protocol: Protocol, line: dict[str, Any], placed: Placed) -> dict[str, Any]:
    if placed.relation == "owner":
        put(protocol, line, placed.path, OWN)
    for name in () if isinstance(placed.relation, str) else placed.relation:
        if protocol.lens.get(line, name) is None:
            line[protocol.data["fields"][name]] = "driven_shared"
    return line


def _drive(
    protocol: Protocol, machine: Machine, driver: Driver, placed: Placed, into: str, line: dict[str, Any]
) -> Drive | None:
    """The drive, when the line really moves the other one, and by that move alone reaches this one."""
    origin = protocol.machines[driver.name]
    world = new_world(protocol.id)
    if not _place(world, machine, origin, placed, line):
        return None
    stand = Stand(state=placed.own, key=OWN, world=world)
    step, after = stand.tell(protocol, line)
    moves = [move for move in step.moves if (move.machine, move.subject, move.target) == (origin.name, OTHER, into)]
    if not moves or any((m.machine, m.subject) == (machine.name, OWN) and m.row.driver != driver for m in step.moves):
        return None
    supplied = {**dict(around(after.fold, machine, OWN)), "move.from": placed.other}
    rows = [row for row in machine.by_driver[driver] if into in row.into and placed.own in row.sources]
    legal = any(meets(protocol, row, line) and fits(row, supplied) for row in rows)
    return Drive(machine, driver, stand, line, OWN, legal)


def _place(world: World, machine: Machine, origin: Machine, placed: Placed, line: dict[str, Any]) -> bool:
    """Puts the subjects into the world; False when the line cannot relate them."""
    lens, by = world.protocol.lens, origin.subject[0][0]
    link = {placed.path: OWN} if placed.relation == "owner" else {}
    shared = {} if isinstance(placed.relation, str) else {name: lens.get(line, name) for name in placed.relation}
    if None in shared.values() or (placed.other == NONE and link and lens.get(line, placed.path) != OWN):
        return False
    if placed.own != NONE:
        scope = {by: OTHER} if placed.relation == "member" else dict(shared)
        world.fold.place(Subject(machine.name, OWN, placed.own, machine.subject[0][0], scope, [1]))
    if placed.other != NONE:
        world.fold.place(Subject(origin.name, OTHER, placed.other, by, {**link, **shared}, [1]))
    if placed.third is not None:
        world.fold.place(Subject(origin.name, THIRD, placed.third, by, dict(link), [1]))
    return True
