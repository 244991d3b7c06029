"""Reads one of our data files and holds it against the schema of its kind, so that nothing malformed gets further."""

from __future__ import annotations

import os

from validator.datafile import place_of, read_yaml, shown
from validator.errors import DefinitionError
from validator.protocol.schemas import SchemaStore, describe, leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def read_definition(file: str | Path, kind: str, store: SchemaStore) -> dict[str, Any]:
    """The mapping in a YAML file of the given kind (`machine`, `protocol`, `profile`, `table`, ...)."""
    path = os.fspath(file)
    known = store.definitions.get(path)
    if known is not None:
        return known
    data, reference = read_yaml(path), f"_meta/{kind}.schema.json"
    if store.accepts(reference, data):
        return store.definitions.keep(path, data)
    for error in sorted(
        (leaf for found in store.validator(reference).iter_errors(data) for leaf in leaves(found)),
        key=lambda leaf: [str(part) for part in leaf.absolute_path],
    ):
        place = place_of(path, list(error.absolute_path))
        raise DefinitionError(describe(error), source=shown(path), place=place, hint=f"see {reference}")
    return data
