"""Served documents that depart a little from the replay, many of them after each golden capture.

Half of them stand after a restart, which makes room for doubt. Which ones are drawn depends on the names alone. The
answers to them are recorded beside the reports.
"""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.variations import at_place, drawn, field_edits, places, put
from validator.datafile import read_json
from validator.engine import Options, validate
from validator.protocol.protocol import Protocol

SKEWS = 24
"""How many documents a story is asked about, before and after the restart each."""
_OWNERS = {
    "agent-runtime": (),
    "agenthub": ("AHB029",),
    "agent-threads": ("ATH017", "ATH018", "ATH019", "ATH020", "ATH021", "ATH024"),
    "runagents": ("RAG025", "RAG026"),
}
"""Rules of the dialects that judge some fields of their views."""
_WORDS = ("lost", "blocked", "completed", "idle")


def answers(protocol: Protocol, path: Path) -> dict[str, list[str]]:
    """What is said about each skewed document, with the skews that lead to it."""
    served = [
        (model, document)
        for model, documents in read_json(path.with_name(f"{path.stem}.readmodel.json"))["models"].items()
        for document in documents
    ]
    documents = [document for _, document in served]
    names, lines = [], path.read_bytes().splitlines()
    first = len(lines) + 1
    for part in ("", "after a restart "):
        lines += [b'{"record":"restart"}'] if part else []
        names += [None] if part else []
        for name, edit in drawn(f"{path.stem} {part}", _edits(documents), SKEWS):
            skewed = copy.deepcopy(documents)
            edit(skewed)
            at = next((at for at, pair in enumerate(zip(documents, skewed, strict=True)) if pair[0] != pair[1]), 0)
            names.append(f"{part}{served[at][0]} {name}")
            lines.append(json.dumps({"record": "snapshot", "model": served[at][0], "snapshot": skewed[at]}).encode())
    return _answers(protocol, path, b"\n".join(lines) + b"\n", dict(enumerate(names, first)))


def judges(name: str) -> tuple[str, ...]:
    """What the rules begin with that a protocol has its served documents judged by."""
    return ("SNP", *_OWNERS[name])


def _answers(protocol: Protocol, path: Path, data: bytes, names: dict[int, str | None]) -> dict[str, list[str]]:
    wishes = Options(protocol=protocol.id, max_findings_per_rule=10**6, select=judges(protocol.name))
    report = validate(io.BytesIO(data), path.name, wishes)
    told: dict[int, list[str]] = {line: [] for line, name in names.items() if name}
    for found in report.findings:
        words = (found.rule, found.clause, found.entity and found.entity[0], found.state, found.key, found.cause)
        told[found.line].append(f"{' '.join(map(str, words))}: {found.expected} / {found.actual}")
    answers: dict[str, list[str]] = {f"looks {report.looks}, crashes {len(report.crashes)}": []}
    for line, said in told.items():
        answers.setdefault("; ".join(said), []).append(str(names[line]))
    return answers


def _edits(documents: list[Any]) -> Iterator[tuple[str, Any]]:
    """Changes of single values, honest words and words of state among them, and of whole lists."""
    yield from field_edits(documents)
    for at, document in enumerate(documents):
        for place in places(document, ()):
            name, value = f"{at + 1}/" + "/".join(map(str, place)), at_place(document, place)
            if isinstance(value, str):
                for word in _WORDS:
                    yield f"{name} {word}", lambda rows, at=at, place=place, word=word: put(rows[at], place, word)
            if isinstance(value, list) and value:
                for word, other in (("turned", value[::-1]), ("doubled", [*value, *_renamed(value)])):
                    yield f"{name} {word}", lambda rows, at=at, place=place, other=other: put(rows[at], place, other)


def _renamed(entries: list[Any]) -> list[Any]:
    """The first entry under another name."""
    first = entries[0]
    if isinstance(first, dict):
        return [{name: f"{value}x" if name.endswith(("_id", "Id")) else value for name, value in first.items()}]
    return [f"{first}x"]
