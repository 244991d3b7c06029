"""Which clause a document breaks that does not fit its schema, by the place of the fault.

A schema judges many clauses at once. `judged.yaml` says under `places` which of them a place belongs to; a fault
anywhere else is one against the clause about shapes in general.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from validator import resources
from validator.protocol.definition import read_definition
from validator.protocol.protocol import Protocol
from validator.protocol.wildcards import fitting, is_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

Places = tuple[tuple[str, bool, str], ...]
"""Pointers, whether what lies below counts too, and clauses; the narrowest first."""


@functools.lru_cache(maxsize=8)
def load_places(protocol: Protocol, spec: Path | None = None) -> dict[str, Places]:
    """Kinds of documents, each with its places."""
    found: dict[str, list[tuple[str, bool, str]]] = {kind: [] for kind in protocol.references()}
    for clause, word, pointer in declared(protocol, spec):
        kinds = fitting(word, found) if is_pattern(word) else (word,)
        for kind in kinds:
            found[kind].append((pointer.removesuffix("$"), not pointer.endswith("$"), clause))
    return {kind: tuple(sorted(rows, key=lambda row: (-len(row[0]), row[1]))) for kind, rows in found.items() if rows}


def declared(protocol: Protocol, spec: Path | None = None) -> Iterator[tuple[str, str, str]]:
    """Clauses, kinds of documents and pointers, as they are written down."""
    root = os.path.realpath(spec) if spec else resources.folder("spec")
    path = os.path.join(root, protocol.id, "judged.yaml")
    if os.path.exists(path):
        for clause, places in read_definition(path, "judged", protocol.store).get("places", {}).items():
            for place in places:
                kind, _, pointer = place.partition("#")
                yield clause, kind, pointer


def clause_at(places: Places, pointer: str) -> str | None:
    """The clause that a place of a document belongs to."""
    spelled = "".join(f"/{part}" for part in pointer.split("/")[1:] if not part.isdigit())
    for place, below, clause in places:
        if spelled == place or (below and spelled.startswith(f"{place}/")):
            return clause
    return None
