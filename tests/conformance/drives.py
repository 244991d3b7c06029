"""Drives every pair of a state and a driver of a state table, from what the golden captures hold.

A golden prefix brings a subject into a state; a golden line of a driver is then told about that subject, with its ids
put in place. What the table says about the pair is read here from the rows alone: a row is taken when the state is
among its sources and its conditions hold on the line, or on what stands around the subject.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from validator import resources
from validator.capture.lines import read_lines
from validator.capture.ndjson import Line
from validator.context import Context, Options
from validator.protocol.machine import NONE, Driver, Machine, Row
from validator.protocol.protocol import Protocol, load_protocol
from validator.replay.fold import Fold
from validator.replay.step import Step
from validator.replay.world import World
from validator.requirements import load_requirements
from validator.rules import Finding
from validator.rules._catalog import Catalogue, compile_rules, load_rules
from validator.rules.terminal.change_after_end import CLOSED

RULES = ("STA001", "TRM001", "ORD005")
_SUPPLIED = ("open.", "move.from", "subject.by")
"""Facts that the line does not tell."""


@dataclass(frozen=True, slots=True)
class Stand:
    """A subject in a state, after a prefix of a story or where it was placed."""

    story: str = ""
    length: int = 0
    state: str = NONE
    key: str | None = None
    by: str = ""
    scope: dict[str, str] = field(default_factory=dict)
    around: tuple[tuple[str, str], ...] = ()
    """What the facts about open subjects say there."""
    world: World | None = None
    """Where it was placed."""

    def tell(self, protocol: Protocol, line: dict[str, Any]) -> tuple[Step, World]:
        """The step that one more line makes, and the world after it."""
        world = copied(self.world or world_at(protocol.id, self.story, self.length), protocol)
        return world.apply(line, self.length + 1), world


@dataclass(frozen=True, slots=True)
class Cue:
    """A golden line that carries a driver, the key it names its subject by, and the rows whose conditions it meets."""

    line: dict[str, Any]
    by: str
    rows: frozenset[int]


@dataclass(frozen=True, slots=True)
class Drive:
    """One line told about one subject."""

    machine: Machine
    driver: Driver
    stand: Stand
    line: dict[str, Any]
    key: str
    legal: bool


@functools.cache
def stories(name: str) -> dict[str, tuple[dict[str, Any], ...]]:
    """The lines of every golden capture."""
    folder = resources.fixtures() / name / "golden"
    return {path.stem: tuple(line for _, line in read_lines(path)) for path in sorted(folder.glob("*.ndjson"))}


# -- reading the golden captures --------------------------------------------------------------------------------------


def open_facts(machine: Machine) -> list[str]:
    rows = machine.rows
    return sorted({path for row in rows for path, _ in (*row.when, *row.unless) if path.startswith("open.")})


def around(fold: Fold, machine: Machine, key: str) -> tuple[tuple[str, str], ...]:
    """What `open.<machine>` and `open.<machine>.<state>` say about a subject, counted here."""
    return tuple((path, _some(fold, machine, key, path)) for path in open_facts(machine))


def _some(fold: Fold, machine: Machine, key: str, path: str) -> str:
    _, name, *state = path.split(".")
    kinds = fold.protocol.machines[name].states
    for subject in fold.subjects[name].values():
        counts = subject.state == state[0] if state else kinds[subject.state] in {"initial", "active", "waiting"}
        if counts and subject.scope.get(machine.subject[0][0]) == key and (name, subject.key) != (machine.name, key):
            return "some"
    return "none"


@functools.cache
def stands(name: str) -> dict[str, tuple[Stand, ...]]:
    """Per machine the shortest prefix for every state, key and surroundings of its subjects; an empty one first."""
    protocol = load_protocol(name)
    found: dict[str, dict[tuple[Any, ...], Stand]] = {}
    for machine in protocol.machines.values():
        calm = tuple((path, "none") for path in open_facts(machine))
        found[machine.name] = {(NONE, "", calm): Stand(around=calm)}
    for story, lines in stories(name).items():
        fold = Fold(protocol)
        for length, line in enumerate(lines, start=1):
            known = {machine: set(subjects) for machine, subjects in fold.subjects.items()}
            fold.apply(line)
            for machine, stand in _standing(fold, story, length, known):
                mark, kept = (stand.state, stand.by, stand.around), found[machine]
                if mark not in kept or stand.length < kept[mark].length:
                    kept[mark] = stand
    return {machine: tuple(sorted(kept.values(), key=_nearness)) for machine, kept in found.items()}


def _nearness(stand: Stand) -> tuple[Any, ...]:
    return stand.length, stand.story, stand.key or ""


def _standing(fold: Fold, story: str, length: int, known: dict[str, set[str]]) -> Iterator[tuple[str, Stand]]:
    for name, machine in fold.protocol.machines.items():
        for key, subject in fold.subjects[name].items():
            if key not in known[name]:
                before = world_at(fold.protocol.id, story, length - 1).fold
                yield name, Stand(story, length - 1, NONE, key, "", {}, around(before, machine, key))
            near = around(fold, machine, key)
            yield name, Stand(story, length, subject.state, key, subject.by, dict(subject.scope), near)


@functools.cache
def move_rules(name: str) -> Catalogue:
    return compile_rules(load_protocol(name), tuple(load_rules()[rule] for rule in RULES))


@functools.lru_cache(maxsize=2048)
def world_at(name: str, story: str, length: int) -> World:
    """The world after a prefix of a story; never applied to, only copied."""
    protocol = load_protocol(name)
    if not length:
        return new_world(name)
    world = copied(world_at(name, story, length - 1), protocol)
    world.apply(stories(name)[story][length - 1], length)
    return world


def new_world(name: str) -> World:
    return World(load_protocol(name), (ledger for rule in move_rules(name).rules for ledger in rule.ledgers))


def copied(world: World, protocol: Protocol) -> World:
    return copy.deepcopy(world, {id(protocol): protocol})


@functools.cache
def cues(name: str, machine_name: str, driver: Driver) -> tuple[Cue, ...]:
    """One golden line for every set of rows that lines of a driver can meet, per key they name the subject by."""
    protocol = load_protocol(name)
    machine = protocol.machines[machine_name]
    found: dict[tuple[str, frozenset[int]], Cue] = {}
    for line in golden_lines(protocol, driver):
        by = key_of(protocol, machine, line)
        rows = frozenset(row.index for row in machine.by_driver[driver] if meets(protocol, row, line))
        if by is not None:
            found.setdefault((by, rows), Cue(line, by, rows))
    return tuple(found.values())


def golden_lines(protocol: Protocol, driver: Driver) -> Iterator[dict[str, Any]]:
    for lines in stories(protocol.id).values():
        yield from (line for line in lines if driver_of(protocol, line) == driver)


def driver_of(protocol: Protocol, line: dict[str, Any]) -> Driver:
    if "record" in line:
        return Driver("record", str(line.get("model") if line["record"] == "snapshot" else line["record"]))
    return Driver("event", str(protocol.type_of(line)))


def key_of(protocol: Protocol, machine: Machine, line: dict[str, Any]) -> str | None:
    """The first of a table's keys that a line carries."""
    for key in machine.subject:
        if all(any(isinstance(value, str) for value in protocol.lens.each(line, path)) for path in key):
            return ",".join(key)
    return None


def meets(protocol: Protocol, row: Row, line: dict[str, Any]) -> bool:
    """True when a line satisfies those conditions of a row that a line can satisfy."""

    def value(path: str) -> Any:
        return protocol.lens.get(line, path)

    told = [(path, values) for path, values in row.when if not path.startswith(_SUPPLIED)]
    barred = [(path, values) for path, values in row.unless if not path.startswith(_SUPPLIED)]
    return all(value(path) in values for path, values in told) and not any(value(p) in v for p, v in barred)


def fits(row: Row, supplied: dict[str, str]) -> bool:
    """True when a row's other conditions hold on what is supplied about the subject."""
    told = [(path, values) for path, values in row.when if path.startswith(_SUPPLIED)]
    barred = [(path, values) for path, values in row.unless if path.startswith(_SUPPLIED)]
    return all(supplied[path] in values for path, values in told) and not any(supplied[p] in v for p, v in barred)


# -- telling a line about another subject -----------------------------------------------------------------------------


def put(protocol: Protocol, line: dict[str, Any], path: str, value: str) -> None:
    """Sets the place from which the lens reads a path; of a list, one element is kept."""
    first, *rest = path.split(".")
    places = protocol.data["fields"].get(first.removesuffix("[]"), first.removesuffix("[]"))
    suffix = ["[]"] if first.endswith("[]") else []
    for place in places if isinstance(places, list) else [places]:
        prefix = place["prefix"] if isinstance(place, dict) else ""
        steps = (place["path"] if isinstance(place, dict) else place).split(".") + suffix + rest
        if _put(line, [part for step in steps for part in _parts(step)], prefix + value):
            return


def _parts(step: str) -> list[str]:
    return [step[:-2], "[]"] if step.endswith("[]") and step != "[]" else [step]


def _put(node: Any, steps: list[str], value: str) -> bool:
    if steps[0] == "[]":
        del node[1:]
        if len(steps) == 1:
            node[:] = [value]
            return True
        return _put(node[0], steps[1:], value)
    if not isinstance(node, dict) or node.get(steps[0]) is None:
        return False
    if len(steps) > 1:
        return _put(node[steps[0]], steps[1:], value)
    node[steps[0]] = value
    return True


def told_about(protocol: Protocol, machine: Machine, cue: Cue, stand: Stand, key: str) -> dict[str, Any]:
    """A golden line told about a subject: its ids, a new event id, and the next sequence of its stream."""
    line = copy.deepcopy(cue.line)
    paths = cue.by.split(",")
    for name in protocol.lens.scope(line):
        if name in stand.scope and name not in paths:
            put(protocol, line, name, stand.scope[name])
    for path, part in zip(paths, key.split("|") if len(paths) > 1 else [key], strict=True):
        put(protocol, line, path, part)
    if "record" not in line:
        put(protocol, line, "event_id", "evt_driven")
        counted = any(path == "sequence" for row in machine.rows for path, _ in row.when)
        if not (counted and driver_of(protocol, line).name == "RUN_CREATED"):
            line[protocol.data["fields"]["sequence"]] = _next(
                protocol, line, stories(protocol.id).get(stand.story, ())[: stand.length]
            )
    return line


def _next(protocol: Protocol, line: dict[str, Any], before: tuple[dict[str, Any], ...]) -> int:
    order = World(protocol).order
    stream = order.stream(line)
    used = [protocol.lens.get(old, "sequence") for old in before if "record" not in old and order.stream(old) == stream]
    return max((number for number in used if isinstance(number, int)), default=0) + 1


# -- every pair -------------------------------------------------------------------------------------------------------


def pairs(protocol: Protocol, machine: Machine) -> Iterator[tuple[str, Driver, str]]:
    """Every state with every driver; of a move, with every state it can be a move into."""
    for driver, rows in machine.by_driver.items():
        into = sorted({state for row in rows for state in row.into}) or [""]
        for state in (NONE, *machine.states):
            yield from ((state, driver, target) for target in into)


def drives(protocol: Protocol, machine: Machine, state: str, driver: Driver) -> Iterator[Drive]:
    """For an event or a record: a legal and an illegal drive for every set of rows that its lines can meet."""
    places = [stand for stand in stands(protocol.id)[machine.name] if stand.state == state]
    for rows in sorted({cue.rows for cue in cues(protocol.id, machine.name, driver)}, key=sorted):
        done: set[bool] = set()
        for stand, cue in _matched(places, [c for c in cues(protocol.id, machine.name, driver) if c.rows == rows]):
            supplied = {**dict(stand.around), "subject.by": cue.by}
            taken = [machine.rows[index] for index in rows if state in machine.rows[index].sources]
            legal = any(fits(row, supplied) for row in taken)
            key = stand.key or "|".join(f"driven_{number}" for number, _ in enumerate(cue.by.split(",")))
            if legal not in done and (len(cue.by.split(",")) == 1 or "|" in key):
                done.add(legal)
                yield Drive(machine, driver, stand, told_about(protocol, machine, cue, stand, key), key, legal)


def _matched(places: list[Stand], found: list[Cue]) -> Iterator[tuple[Stand, Cue]]:
    """Stands with cues, those first that name the subject by the same key."""
    both = [(stand, cue) for stand in places for cue in found]
    yield from sorted(both, key=lambda pair: pair[0].by not in {"", pair[1].by})


def findings(protocol: Protocol, step: Step, world: World) -> Iterator[Finding]:
    """What the rules on moves that a step wakes find in it."""
    catalogue = move_rules(protocol.id)
    context = Context(Options(), str, line=Line(step.number, 0, 0, step.line))
    for rule in catalogue.woken_by(step):
        answers = rule.check(step, world, context)
        yield from (replace(answer, rule=rule.id) for answer in answers if isinstance(answer, Finding))


def problem(protocol: Protocol, drive: Drive) -> str | None:
    """How the fold or the rules depart from the table, or None."""
    name, place = drive.machine.name, f"{drive.stand.story}[{drive.stand.length}]"
    step, world = drive.stand.tell(protocol, drive.line)
    found = [
        entry
        for entry in findings(protocol, step, world)
        if (entry.entity, entry.key) == ((name, drive.key), str(drive.driver))
    ]
    moved = any((m.machine, m.subject, m.row.driver) == (name, drive.key, drive.driver) for m in step.taken())
    where = f"{name} {drive.stand.state} on {drive.driver} after {place}"
    if moved != drive.legal:
        return f"{where}: the table says {'move' if drive.legal else 'refuse'}"
    if drive.legal:
        return f"{where}: {found[0].rule} {found[0].actual}" if found else None
    return _unproved(protocol, drive, found, where)


def _unproved(protocol: Protocol, drive: Drive, found: list[Finding], where: str) -> str | None:
    machine, state = drive.machine, drive.stand.state
    family = protocol.family_of.get(drive.driver.name, drive.driver.name)
    if state == NONE and (drive.driver.kind == "move" or family not in machine.owns):
        return f"{where}: {found[0].rule} about a subject nobody introduced" if found else None
    rule = "ORD005" if state == NONE else "TRM001" if machine.is_terminal(state) else "STA001"
    clauses = {row.clause for row in machine.by_driver[drive.driver]}
    if (machine.name, state) == CLOSED[:2]:
        clauses.add(CLOSED[2])
    if [entry.rule for entry in found] != [rule]:
        return f"{where}: expected {rule}, found {[entry.rule for entry in found]}"
    demands = load_requirements(protocol)[found[0].clause or ""].clause.level.startswith("MUST")
    return None if found[0].clause in clauses and demands else f"{where}: cites {found[0].clause}"
