"""The captures that mutants are made of: golden ones, and the near misses of rules."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validator import resources
from validator.datafile import read_json
from validator.engine import Options
from validator.errors import DefinitionError
from validator.protocol.definition import read_definition
from validator.protocol.protocol import Protocol, available, load_protocol
from validator.rulestreams import options_of
from validator.testing.mutators.edits import run
from validator.testing.mutators.free import NOT_WHOLE
from validator.testing.mutators.kill import Seed
from validator.testing.mutators.lines import parse
from validator.testing.mutators.operator import Mutant
from validator.testing.mutators.snapshots import with_snapshots


@functools.cache
def golden(served: bool = False) -> tuple[Seed, ...]:
    """Every golden capture; `served` ones are whole and end with the read models that are expected of them."""
    found = []
    for name in available():
        protocol = load_protocol(name)
        for path in sorted((resources.fixtures() / name / "golden").glob("*.ndjson")):
            if served and path.stem in NOT_WHOLE:
                continue
            lines = parse(path.read_bytes())
            if served:
                lines = with_snapshots(lines, read_json(path.with_suffix(".readmodel.json")).get("models", {}))
            found.append(Seed(f"{name} {path.stem}", protocol, lines, Options(protocol=name)))
    return tuple(found)


def rule_mutants(prefix: str = "", folder: Path | None = None) -> Iterator[tuple[str, str, Seed, Mutant]]:
    """Rule, mutator, seed and mutant of every edit script beside the streams of rules whose ids begin so."""
    for name in available():
        protocol = load_protocol(name)
        base = (folder or resources.fixtures()) / name
        for path in sorted(base.glob(f"rules/{prefix}*/mutators.yaml")):
            data = read_definition(path, "mutators", protocol.store)
            expect = read_definition(path.with_name("expect.yaml"), "expect", protocol.store)
            for key, script in data.get("mutators", {}).items():
                seed = seed_of(path, script["from"], expect, protocol)
                mutant = Mutant(key, run(script, seed.lines, protocol), (data["rule"],), clause=script.get("clause"))
                yield data["rule"], key, seed, mutant


def seed_of(path: Path, word: str, expect: dict[str, Any], protocol: Protocol) -> Seed:
    """The capture a script starts from, with the options it is judged under."""
    if word.startswith("golden/"):
        source, entry = path.parents[2] / f"{word}.ndjson", {}
    else:
        source, entry = path.with_name(f"{word}.ndjson"), expect["streams"].get(word, {})
    if not source.exists():
        raise DefinitionError(f"there is no stream {word}", source=path.parent.name)
    return Seed(f"{protocol.id} {word}", protocol, parse(source.read_bytes()), options_of(protocol, entry))


def excused() -> dict[str, str]:
    """Rules of which no edit of a legal stream shows the fault, with the reason."""
    store = load_protocol(available()[0]).store
    files = sorted(resources.fixtures().glob("*/*/rules/*/mutators.yaml"))
    entries = (read_definition(path, "mutators", store) for path in files)
    return {entry["rule"]: entry["none"] for entry in entries if "none" in entry}
