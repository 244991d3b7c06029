"""Turns the contract's schema files into the components of an OpenAPI document.

The files refer to each other by relative paths; an OpenAPI reader looks under `components`. So every schema that is
asked for becomes a component, named after its file and place, together with everything it refers to. Nothing is
restated; what is added are the bounds within which a body's integers are read.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

from reference_runtime.transports.strict import LARGEST
from validator.protocol.schemas import BASE, SchemaStore

_HEADER = {"$schema", "$id", "$defs"}


class Components:
    """Collects schemas as they are referred to."""

    def __init__(self, store: SchemaStore):
        self._store = store
        self.schemas: dict[str, Any] = {}

    def ref(self, reference: str) -> dict[str, str]:
        """A reference to a component that holds the schema of a reference below the schema folder."""
        name = _name(reference)
        if name not in self.schemas:
            self.schemas[name] = {}  # its place is taken before it is filled: schemas refer to themselves
            self.schemas[name] = self._moved(self._store.subschema(reference), reference.partition("#")[0])
        return {"$ref": f"#/components/schemas/{name}"}

    def _moved(self, schema: Any, file: str) -> Any:
        if isinstance(schema, list):
            return [self._moved(entry, file) for entry in schema]
        if not isinstance(schema, dict):
            return schema
        moved = {name: self._moved(value, file) for name, value in schema.items() if name not in _HEADER | {"$ref"}}
        if schema.get("type") == "integer":
            moved = {"minimum": -LARGEST, "maximum": LARGEST, **moved}
        if isinstance(schema.get("$ref"), str):
            moved |= self.ref(urljoin(BASE + file, schema["$ref"]).removeprefix(BASE))
        return moved


def _name(reference: str) -> str:
    """`common/1/ids.schema.json#/$defs/id` is `common.1.ids.id`."""
    plain = reference.replace(".schema.json", "").replace("#/$defs/", "/").replace("#", "")
    return re.sub(r"[^A-Za-z0-9_-]+", ".", plain).strip(".")
