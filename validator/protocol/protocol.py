"""A protocol: one dialect at one version, loaded from its folder and checked as a whole."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from validator import resources
from validator.datafile import place_of, shown
from validator.errors import DefinitionError, UsageError
from validator.protocol.definition import read_definition
from validator.protocol.envelope import Lens
from validator.protocol.machine import Driver, Machine, load_machine
from validator.protocol.schemas import SchemaStore, load_store
from validator.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


@dataclass(frozen=True, slots=True)
class Command:
    """One control-plane command: whether it changes anything, and what it writes."""

    name: str
    family: str
    reference: str
    mutates: bool
    writes: tuple[str, ...]
    clause: str

    @property
    def request(self) -> str:
        return f"{self.reference}.request"

    @property
    def result(self) -> str:
        return f"{self.reference}.result"


@dataclass(frozen=True, slots=True, eq=False)
class Protocol:
    """Everything a dialect says about itself, as data."""

    name: str
    version: str
    title: str
    summary: str
    place: str
    """The folder it was read from."""
    store: SchemaStore
    data: dict[str, Any]
    lens: Lens
    machines: dict[str, Machine]
    events: dict[str, str]
    families: dict[str, dict[str, Any]]
    family_of: dict[str, str]
    informational: dict[str, str]
    aliases: dict[str, str]
    commands: dict[str, Command]
    snapshots: dict[str, str]
    records: dict[str, str]
    tables: dict[str, dict[str, Any]]
    envelope: str
    listeners: dict[Driver, tuple[Machine, ...]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.name}/{self.version}"

    @property
    def folder(self) -> Path:
        from pathlib import Path

        return Path(self.place)

    @property
    def order(self) -> dict[str, Any]:
        return self.data["order"]

    @property
    def identities(self) -> dict[str, dict[str, Any]]:
        return self.data["identities"]

    @property
    def bindings(self) -> list[str]:
        return self.data["casing"]["bindings"]

    def type_of(self, event: dict[str, Any]) -> str | None:
        """The catalogued type of an event, aliases resolved; its own word when no catalogue lists it."""
        word = self.lens.type(event)
        return self.aliases.get(word, word) if isinstance(word, str) else None

    def schema_for(self, event_type: str | None) -> str:
        """The one schema for an event; the envelope alone for a vendor type."""
        return self.events.get(event_type or "", self.envelope)

    def rows(self) -> Iterator[Any]:
        for machine in self.machines.values():
            yield from machine.rows

    def references(self) -> dict[str, str]:
        """Every kind of document the protocol defines, `kind/name` to its schema."""
        found = {f"events/{name}": reference for name, reference in self.events.items()}
        for name, command in self.commands.items():
            found[f"commands/{name}"] = command.request
            found[f"results/{name}"] = command.result
        found |= {f"snapshots/{name}": reference for name, reference in self.snapshots.items()}
        found |= {f"records/{name}": reference for name, reference in self.records.items()}
        return found


def available(root: Path | None = None) -> list[str]:
    """Names and versions of all protocols below a schema folder, sorted."""
    return list(_shipped()) if root is None else _listed(root)


@functools.cache
def _shipped() -> tuple[str, ...]:
    return tuple(_listed(resources.folder("schemas")))


def _listed(base: str | Path) -> list[str]:
    names = (f"{name}/{version}" for name in _inside(base) for version in _inside(os.path.join(base, name)))
    return sorted(name for name in names if os.path.exists(f"{base}/{name}/protocol.yaml"))


def _inside(folder: str | Path) -> list[str]:
    """What a folder holds; nothing when it is none."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def load_protocol(name: str, root: Path | None = None) -> Protocol:
    """A protocol by name (`agent-runtime`) or by name and version (`agent-runtime/0.3`)."""
    base = os.path.realpath(root) if root else resources.folder("schemas")
    names = available(root)
    wanted = name.replace("@", "/")
    matches = [entry for entry in names if entry == wanted or entry.split("/")[0] == wanted]
    if not matches:
        raise UsageError(f"there is no protocol {name!r}", hint=f"known: {', '.join(names) or 'none'}")
    return _load(base, matches[-1])


@functools.cache
def outline(name: str) -> dict[str, Any]:
    """What the file of a shipped protocol says, without its tables and schemas."""
    root = resources.folder("schemas")
    return read_definition(os.path.join(root, name, "protocol.yaml"), "protocol", load_store(root))


@functools.lru_cache(maxsize=16)
def _load(root: str, name: str) -> Protocol:
    store = load_store(root)
    folder = os.path.join(root, name)
    path = os.path.join(folder, "protocol.yaml")
    data = read_definition(path, "protocol", store)
    if f"{data['protocol']}/{data['version']}" != name:
        raise DefinitionError(f"the file names {data['protocol']}/{data['version']}", source=shown(path))
    home = os.path.join(folder, "machines")
    tables = [file for file in _inside(home) if file.endswith(".yaml")]
    machines = {file.removesuffix(".yaml"): load_machine(os.path.join(home, file), store) for file in tables}
    families, listed = data["families"], data.get("tables", {})
    protocol = Protocol(
        name=data["protocol"],
        version=data["version"],
        title=data["title"],
        summary=data["summary"],
        place=folder,
        store=store,
        data=data,
        lens=Lens(data["fields"], tuple(data["identities"])),
        machines=machines,
        events={
            event: f"{name}/{family['file']}#/$defs/{event}"
            for family in families.values()
            for event in family["events"]
        },
        families=families,
        family_of={event: key for key, family in families.items() for event in family["events"]},
        informational=data["informational"],
        aliases=data.get("aliases", {}),
        commands=dict(_commands(name, data.get("commands", {}))),
        snapshots={key: f"{name}/{file}" for key, file in data.get("snapshots", {}).items()},
        records={key: f"{name}/{file}" for key, file in data.get("records", {}).items()},
        tables={key: read_definition(f"{folder}/{file}", "table", store) for key, file in listed.items()},
        envelope=f"{name}/{data['envelope']}",
        listeners=_listeners(machines),
    )
    if not store.definitions.are_proved(path):
        for pointer, reason in problems(protocol):
            raise DefinitionError(reason, source=shown(path), place=place_of(path, pointer))
    return protocol


def _commands(name: str, groups: dict[str, Any]) -> Iterator[tuple[str, Command]]:
    for family, group in groups.items():
        for command, entry in group["commands"].items():
            reference = f"{name}/{group['file']}#/$defs/{command}"
            writes = tuple(entry["writes"])
            yield command, Command(command, family, reference, entry["mutates"], writes, entry["clause"])


def _listeners(machines: dict[str, Machine]) -> dict[Driver, tuple[Machine, ...]]:
    listeners: dict[Driver, tuple[Machine, ...]] = {}
    for machine in machines.values():
        for driver in machine.by_driver:
            listeners[driver] = (*listeners.get(driver, ()), machine)
    return listeners


def problems(protocol: Protocol) -> Iterator[tuple[list[str | int], str]]:
    """Everything that does not fit together between a protocol's file, its schemas and its tables."""
    counted = sum(len(family["events"]) for family in protocol.families.values())
    if counted != len(protocol.events):
        yield ["families"], "an event type is listed in two families"
    yield from _missing_schemas(protocol)
    yield from _roles(protocol)
    yield from _unknown_words(protocol)


def _missing_schemas(protocol: Protocol) -> Iterator[tuple[list[str | int], str]]:
    for name, reference in {"envelope": protocol.envelope, **protocol.references()}.items():
        try:
            protocol.store.subschema(reference)
        except DefinitionError:
            yield [], f"{name} has no schema at {reference}"
    for key, family in protocol.families.items():
        document = protocol.store.subschema(f"{protocol.id}/{family['file']}")
        for event in document.get("$defs", {}):
            if "." in event and not event.endswith(".payload") and event not in protocol.events:
                yield ["families", key], f"{family['file']} defines {event}, which no family lists"


def _roles(protocol: Protocol) -> Iterator[tuple[list[str | int], str]]:
    drivers = {driver.name for driver in protocol.listeners if driver.kind == "event"}
    for event in protocol.events:
        if event not in drivers and event not in protocol.informational:
            yield ["families", protocol.family_of[event]], f"{event} moves no machine and is not informational"
        if event in drivers and event in protocol.informational:
            yield ["informational", event], f"{event} moves a machine, so it is not informational"
    for event in drivers - protocol.events.keys():
        yield ["families"], f"a state table is driven by {event}, which no family lists"
    for event in protocol.informational.keys() - protocol.events.keys():
        yield ["informational", event], f"no family lists {event}"


def _unknown_words(protocol: Protocol) -> Iterator[tuple[list[str | int], str]]:
    for alias, event in protocol.aliases.items():
        if event not in protocol.events:
            yield ["aliases", alias], f"no family lists {event}"
    for key, family in protocol.families.items():
        for names in family["carries"].values():
            for name in names:
                if name not in protocol.identities and name not in protocol.data["fields"]:
                    yield ["families", key, "carries"], f"{name} is not an identity or field"
    for driver, listening in protocol.listeners.items():
        if driver.kind != "move":
            continue
        moved = protocol.machines.get(driver.name)
        for machine in listening:
            for row in machine.by_driver[driver]:
                strange = set(row.into) - (moved.states.keys() if moved else set())
                if strange:
                    yield [], f"{row.id} waits for {driver.name} to become {min(strange)}, which no table lists"
    for row in protocol.rows():
        for path, _ in (*row.when, *row.unless):
            if path.startswith("open.") and not _counts(protocol, path):
                yield [], f"{row.id} asks for {path}, which no table lists"
    for key, group in protocol.data.get("commands", {}).items():
        for command, entry in group["commands"].items():
            for event in entry["writes"]:
                if event not in protocol.events:
                    yield ["commands", key, "commands", command], f"no family lists {event}"


def _counts(protocol: Protocol, path: str) -> bool:
    _, name, *state = path.split(".")
    machine = protocol.machines.get(name)
    return machine is not None and all(word in machine.states for word in state)


def load_capabilities(root: str | Path | None = None) -> dict[str, Any]:
    """The capabilities a capture may declare, with the requirements each switches on."""
    return _capabilities(os.path.realpath(root) if root else resources.folder("schemas"))


@functools.lru_cache(maxsize=8)
def _capabilities(base: str) -> dict[str, Any]:
    path = os.path.join(base, "capture", "1", "capabilities.yaml")
    return read_definition(path, "capabilities", load_store(base))["capabilities"]
