"""A profile: a named set on top of a protocol that can only demand more.

It may require a declared field or id, narrow a declared vocabulary, raise a clause, and say what must have been
observed. There is no operation that loosens anything, and the three that exist are refused when they would.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from validator import resources
from validator.datafile import place_of, shown
from validator.errors import DefinitionError, UsageError
from validator.jsontext import write
from validator.protocol.clauses import LEVELS, Clauses, load_clauses
from validator.protocol.definition import read_definition
from validator.protocol.digest import sha256
from validator.protocol.protocol import Protocol
from validator.protocol.regex import compiled
from validator.protocol.schemas import SchemaError
from validator.protocol.view import View, view
from validator.protocol.wildcards import fitting
from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


@dataclass(frozen=True, slots=True)
class Demand:
    """One tightening of one kind of document: a path that must be there, or the words it is limited to."""

    document: str
    path: tuple[str, ...]
    values: tuple[str, ...]
    clause: str
    name: str
    """What the protocol calls the last step of the path, wherever a document keeps it."""


@dataclass(frozen=True, slots=True)
class Shortfall(SchemaError):  # noqa: N818, it is data, as a SchemaError is
    """In what a document that fits its schema falls short of a demand, which weighs MUST whatever its clause does."""

    clause: str = ""
    name: str = ""

    def is_told_by(self, pointer: str, words: str) -> bool:
        """True when a remark at a place speaks of what is missing or outside the words allowed."""
        own = self.message.removeprefix("lacks ") if self.keyword == "required" else ""
        if pointer == (f"{self.pointer}/{own}" if own else self.pointer):
            return True
        told = {own, self.name}
        return bool(own) and pointer == self.pointer and not told.isdisjoint(compiled(r"\w+").findall(words))


@dataclass(frozen=True, slots=True)
class Profile:
    """A loaded profile with everything it inherits."""

    name: str
    protocol: str
    summary: str
    at_least: int
    clauses: tuple[str, ...]
    demands: tuple[Demand, ...]
    levels: dict[str, str]

    @property
    def digest(self) -> str:
        """SHA-256 over the profile's content, so that two reports can say they used the same one."""
        content = {
            "profile": self.name,
            "protocol": self.protocol,
            "at_least": self.at_least,
            "clauses": sorted(self.clauses),
            "demands": sorted(
                [demand.document, list(demand.path), list(demand.values), demand.clause] for demand in self.demands
            ),
            "levels": self.levels,
        }
        text = write(content)
        return "sha256:" + sha256(text.encode()).hexdigest()

    def errors(self, document_kind: str, document: dict[str, Any]) -> Iterator[Shortfall]:
        """In what a document that fits its schema still falls short of the profile."""
        for demand in self.demands:
            if demand.document == document_kind:
                yield from _shortfall(demand, document)


def _shortfall(demand: Demand, document: dict[str, Any]) -> Iterator[Shortfall]:
    value: Any = document
    for index, step in enumerate(demand.path):
        if not isinstance(value, dict) or step not in value:
            if not demand.values:
                parent = "".join(f"/{name}" for name in demand.path[:index])
                yield Shortfall(parent, "required", f"lacks {step}", demand.clause, demand.name)
            return
        value = value[step]
    if demand.values and isinstance(value, str) and value not in demand.values:
        pointer = "".join(f"/{name}" for name in demand.path)
        words = f"must be one of {', '.join(demand.values)}"
        yield Shortfall(pointer, "enum", words, demand.clause, demand.name)


def shipped(protocol: Protocol) -> list[str]:
    """Names of the profiles that come with a protocol."""
    return sorted(path.stem for path in (protocol.folder / "profiles").glob("*.yaml"))


def load_profile(protocol: Protocol, name: str | Path = "default", spec: str | Path | None = None) -> Profile:
    """A shipped profile by name, or anyone's by path; refused with its place when it does not only tighten."""
    chapters = os.path.realpath(spec) if spec else resources.folder("spec")
    path = os.fspath(name)
    if os.path.splitext(path)[1] in {".yaml", ".yml"}:
        return _load(protocol, path, load_clauses(chapters), ())
    path = os.path.join(protocol.place, "profiles", f"{name}.yaml")
    if not os.path.exists(path):
        known = ", ".join(shipped(protocol)) or "none"
        raise UsageError(f"{protocol.id} has no profile {name!r}", hint=f"known: {known}")
    return _load_shipped(protocol, path, chapters)


@functools.lru_cache(maxsize=32)
def _load_shipped(protocol: Protocol, path: str, spec: str) -> Profile:
    """A profile of ours, read once in a process."""
    return _load(protocol, path, load_clauses(spec), ())


def _load(protocol: Protocol, path: str, clauses: Clauses, above: tuple[str, ...]) -> Profile:
    data = read_definition(path, "profile", protocol.store)

    def refuse(place: list[str | int], reason: str) -> DefinitionError:
        return DefinitionError(reason, source=shown(path), place=place_of(path, place))

    if data["protocol"] != protocol.id:
        raise refuse(["protocol"], f"the profile is for {data['protocol']}, not for {protocol.id}")
    if data["profile"] in above:
        raise refuse(["extends"], f"{data['profile']} extends itself")
    parent = None
    if "extends" in data:
        file = os.path.join(protocol.place, "profiles", f"{data['extends']}.yaml")
        parent = _load(protocol, file, clauses, (*above, data["profile"]))
    observe = data.get("observe", {})
    for index, clause in enumerate(observe.get("clauses", ())):
        if clause not in clauses:
            raise refuse(["observe", "clauses", index], f"no chapter has a clause {clause}")
    demands: list[Demand] = list(parent.demands) if parent else []
    levels = dict(parent.levels) if parent else {}
    shapes = Shapes(protocol)
    for index, entry in enumerate(data.get("tighten", ())):
        problem = _tighten(protocol, entry, clauses, demands, levels, shapes)
        if problem:
            raise refuse(["tighten", index], problem)
    inherited = parent.clauses if parent else ()
    return Profile(
        name=data["profile"],
        protocol=protocol.id,
        summary=" ".join(data["summary"].split()),
        at_least=max(observe.get("at_least", 0), parent.at_least if parent else 0),
        clauses=tuple(dict.fromkeys((*inherited, *observe.get("clauses", ())))),
        demands=tuple(demands),
        levels=levels,
    )


def _tighten(
    protocol: Protocol,
    entry: dict[str, Any],
    clauses: Clauses,
    demands: list[Demand],
    levels: dict[str, str],
    shapes: Shapes,
) -> str | None:
    """Adds one tightening, or says why it is none."""
    if "raise" in entry:
        return _raise(entry, clauses, levels)
    if entry["clause"] not in clauses:
        return f"no chapter has a clause {entry['clause']}"
    path = entry.get("require") or entry["narrow"]
    for pattern in entry["in"]:
        kinds = shapes.kinds(pattern)
        if not kinds:
            return f"{protocol.id} has no document {pattern!r}"
        for kind in kinds:
            native = _native(protocol, path)
            place = shapes.at(kind, native)
            if place is None:
                return f"{kind} declares no {path}, and a profile adds no fields"
            values = tuple(entry.get("to", ()))
            known = place.first("enum") or place.first("examples") or ()
            if values and not set(values) <= set(known):
                return f"{', '.join(sorted(set(values) - set(known)))} would widen {path} of {kind}"
            demands.append(Demand(kind, native, values, entry["clause"], path.rpartition(".")[2]))
    return None


def _raise(entry: dict[str, Any], clauses: Clauses, levels: dict[str, str]) -> str | None:
    clause = clauses.get(entry["raise"])
    if clause is None:
        return f"no chapter has a clause {entry['raise']}"
    now = levels.get(clause.id, clause.level)
    if LEVELS.index(entry["to"]) <= LEVELS.index(now):
        return f"{clause.id} is {now} already; {entry['to']} would not raise it"
    levels[clause.id] = entry["to"]
    return None


class Shapes:
    """What each kind of document of a protocol declares; computed once per kind, since profiles name many fields."""

    def __init__(self, protocol: Protocol):
        self._store = protocol.store
        self._references = protocol.references()
        self._declared: dict[str, dict[str, View]] = {}

    def kinds(self, pattern: str) -> list[str]:
        """Document kinds a pattern names: `tool.*` for events, `records/run` for anything else."""
        wanted = pattern if "/" in pattern else f"events/{pattern}"
        return fitting(wanted, self._references)

    def at(self, kind: str, path: tuple[str, ...]) -> View | None:
        """What is declared at a path of a kind of document, or None."""
        if kind not in self._declared:
            self._declared[kind] = view(self._store, self._references[kind]).properties()
        place = self._declared[kind].get(path[0])
        return place.at(".".join(path[1:])) if place is not None and len(path) > 1 else place


def _native(protocol: Protocol, path: str) -> tuple[str, ...]:
    """Where a document keeps what a canonical path names."""
    first, *rest = path.split(".")
    place = protocol.data["fields"].get(first, first)
    place = place[0] if isinstance(place, list) else place
    place = place["path"] if isinstance(place, dict) else place
    return (*place.split("."), *rest)
