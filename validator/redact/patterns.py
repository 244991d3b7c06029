"""What counts as a private path or a secret, and what it weighs where: `schemas/common/1/*-patterns.yaml`, read."""

from __future__ import annotations

import functools
import os

from validator import resources
from validator.errors import DefinitionError
from validator.protocol.definition import read_definition
from validator.protocol.regex import compiled
from validator.protocol.schemas import load_store
from validator.readings import Row
from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from pathlib import Path
    from typing import Any

FILES = ("path-patterns", "secret-patterns")


@dataclass(frozen=True, slots=True)
class Patterns:
    """Everything the two files say."""

    rows: tuple[Row, ...]
    fields: dict[str, dict[str, Any]]
    output: dict[str, list[str]]
    markers: re.Pattern[str]
    vocabulary: frozenset[str]
    usual: frozenset[str]
    secret_names: tuple[str, ...]
    environment: dict[str, dict[str, str]]
    secret: dict[str, dict[str, str]]

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.id == name)


def load_patterns(root: str | Path | None = None) -> Patterns:
    """The rows for paths, then those for secrets; read once in a process."""
    return _load(os.path.realpath(root)) if root else _shipped()


@functools.cache
def _shipped() -> Patterns:
    return _load(resources.folder("schemas"))


@functools.lru_cache(maxsize=4)
def _load(root: str) -> Patterns:
    folder, store = os.path.join(root, "common", "1"), load_store(root)
    paths, secrets = (read_definition(os.path.join(folder, f"{name}.yaml"), "patterns", store) for name in FILES)
    rows = tuple(_row(entry, data["weights"]) for data in (paths, secrets) for entry in data["rows"])
    environment, weights = secrets["environment"], secrets["weights"]
    return Patterns(
        rows=rows,
        fields={**paths["fields"], **secrets["fields"]},
        output=paths["output"],
        markers=compiled(f"(?i){secrets['markers']}"),
        vocabulary=frozenset(secrets["vocabulary"]),
        usual=frozenset(environment["usual"]),
        secret_names=tuple(environment["secret"]),
        environment=weights[environment["weight"]]["levels"],
        secret=weights["secret"]["levels"],
    )


def hides(text: str) -> bool:
    """True for a text that says that something was hidden, and for a reason why a value is missing that does."""
    return "redact" in text.lower() or _shipped().markers.fullmatch(text.strip()) is not None


def _row(entry: dict[str, Any], weights: dict[str, Any]) -> Row:
    if entry["weight"] not in weights:
        raise DefinitionError(f"{entry['id']} weighs {entry['weight']}, which is not listed", source="patterns")
    return Row(
        id=entry["id"],
        kind=entry["kind"],
        what=entry["what"],
        pattern=entry["regex"],
        needles=tuple(entry.get("needles", ())),
        unless_pattern=entry.get("unless"),
        not_after_pattern=entry.get("not_after"),
        bits=entry.get("bits", 0),
        loose=entry.get("loose"),
        levels=weights[entry["weight"]]["levels"],
        hit=tuple("".join(example) for example in entry["hit"]),
        near=tuple("".join(example) for example in entry["near"]),
    )
