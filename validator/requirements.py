"""The requirement set of a protocol: every clause, and the one way in which it is judged.

A clause is judged by rules, by a schema, only by a kit that drives the runtime, or not at all with a written reason.
The last three are declared beside the chapters in `judged.yaml`; the first follows from the catalogue. There is no
fifth way.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from validator import resources
from validator.datafile import place_of, shown
from validator.errors import DefinitionError
from validator.places import declared as declared_places
from validator.protocol.clauses import Clause, load_clauses
from validator.protocol.definition import read_definition
from validator.protocol.protocol import Protocol
from validator.protocol.wildcards import is_pattern
from validator.records import dataclass
from validator.rules._catalog import load_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

CAPTURE = "capture/1"
"""The lines of a capture are the same in every protocol, so its clauses belong to every set."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A clause with the way it is judged."""

    clause: Clause
    way: str
    """rules, schema, kit, excluded, or open (not yet assigned)."""
    by: tuple[str, ...] = ()
    """Rule ids, or the document kinds whose schemas judge it."""
    reason: str = ""

    @property
    def id(self) -> str:
        return self.clause.id


@functools.lru_cache(maxsize=8)
def load_requirements(protocol: Protocol, spec: Path | None = None) -> dict[str, Requirement]:
    """Every clause of a protocol's chapters, in the order of their ids."""
    root = os.path.realpath(spec) if spec else resources.folder("spec")
    own = load_clauses(root).below((f"spec/{protocol.id}/", f"spec/{CAPTURE}/"))
    declared = _declared(protocol, root)
    judged: dict[str, list[str]] = {}
    for rule in load_rules(protocol.name).values():
        for clause in rule.clauses.get(protocol.name, ()):
            judged.setdefault(clause, []).append(rule.id)
    return {clause.id: _requirement(clause, judged, declared) for clause in own}


def _requirement(clause: Clause, judged: dict[str, list[str]], declared: dict[str, tuple[str, Any]]) -> Requirement:
    if clause.id in judged:
        return Requirement(clause, "rules", tuple(judged[clause.id]))
    way, value = declared.get(clause.id, ("open", ""))
    if way == "schema":
        return Requirement(clause, way, tuple(value))
    return Requirement(clause, way, (), value)


def _declared(protocol: Protocol, root: str) -> dict[str, tuple[str, Any]]:
    found: dict[str, tuple[str, Any]] = {}
    for home in (CAPTURE, protocol.id):
        path = os.path.join(root, home, "judged.yaml")
        if os.path.exists(path):
            _declare(path, read_definition(path, "judged", protocol.store), found)
    return found


def _declare(path: str, data: dict[str, Any], found: dict[str, tuple[str, Any]]) -> None:
    for way in ("schema", "kit", "excluded"):
        for name, value in data.get(way, {}).items():
            if name in found:
                reason = f"{name} is judged in two ways"
                raise DefinitionError(reason, source=shown(path), place=place_of(path, [way, name]))
            found[name] = (way, value)


def problems(protocol: Protocol, spec: Path | None = None) -> Iterator[str]:
    """What is wrong with a protocol's traceability: a clause judged twice or never, or one that is not there."""
    requirements = load_requirements(protocol, spec)
    declared = _declared(protocol, os.path.realpath(spec) if spec else resources.folder("spec"))
    for name, (way, _) in declared.items():
        if name not in requirements:
            yield f"{name} is declared as {way}, and no chapter of {protocol.id} has it"
        elif requirements[name].way == "rules":
            yield f"{name} is declared as {way}, and {', '.join(requirements[name].by)} judges it"
    for name, kind, _ in declared_places(protocol, spec):
        if name not in requirements:
            yield f"{name} has a place, and no chapter of {protocol.id} has it"
        if not is_pattern(kind) and kind not in protocol.references():
            yield f"{name} has a place in {kind}, which {protocol.id} does not know"
    for requirement in requirements.values():
        if requirement.way == "open":
            yield f"{requirement.id} is judged in no way"
