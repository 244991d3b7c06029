"""The page of the kill matrix, from the data that `make kill` writes.

Judging the mutants takes longer than a check of pages may; so the matrix is kept as data, the page is built from it,
and a test judges the same mutants again and compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validator.datafile import read_json
from validator.specgen.markdown import table

MATRIX = "generated/kill-matrix.json"
_FAULTS = ("missed", "misnamed", "crashed")
_INTRO = """\
# Kill matrix

Written by `runtime-validate spec build` from `kill-matrix.json`, which `make kill` writes anew; edits here are lost.

Each operator breaks golden captures in one way; a mutant is *killed* when a rule finds what the capture was not
judged for before, and, where the operator names rules, when one of those does. A mutant that nobody finds may *survive*
only if every state and read model of it equals the original's. What is counted here is a sample that is the same every
time; `make kill-all` judges every mutant."""


def page(root: Path) -> str:
    """The matrix in words: operators, survivors, what is not found yet, and the rules."""
    path = root / MATRIX
    if not path.exists():
        return _INTRO + "\n"
    matrix = read_json(path)
    parts = [_INTRO, "## Operators", table(["Operator", "What it does", "Mutants", "Killed", "By"], _rows(matrix))]
    parts += ["## Survivors", "\n".join(_survivors(matrix)) or "None."]
    parts += ["## Not found yet", "\n".join(_open(matrix)) or "None."]
    parts += ["## Rules", table(["Rule", "Its own mutators", "Operators whose mutants it kills"], _rules(matrix))]
    return "\n\n".join(parts) + "\n"


def killed(entry: dict[str, Any]) -> int:
    """How many mutants of an operator were killed."""
    rest = sum(len(entry.get(kind, ())) for kind in (*_FAULTS, "survived"))
    return entry["mutants"] - rest


def _rows(matrix: dict[str, Any]) -> Iterator[list[str]]:
    for name, entry in matrix["operators"].items():
        by = ", ".join(f"{rule} {count}" for rule, count in entry["by"].items())
        yield [f"`{name}`", entry["description"], str(entry["mutants"]), str(killed(entry)), by]


def _survivors(matrix: dict[str, Any]) -> Iterator[str]:
    for name, entry in matrix["operators"].items():
        if entry.get("survived"):
            yield f"`{name}`, read models equal:\n"
            yield from (f"* {where}" for where in entry["survived"])
            yield ""


def _open(matrix: dict[str, Any]) -> Iterator[str]:
    for name, entry in matrix["operators"].items():
        for kind in _FAULTS:
            yield from (f"* `{name}`, {kind}: {where}" for where in entry.get(kind, ()))


def _rules(matrix: dict[str, Any]) -> Iterator[list[str]]:
    for rule, own in matrix["rules"].items():
        operators = [name for name, entry in matrix["operators"].items() if rule in entry["by"]]
        yield [rule, ", ".join(own), ", ".join(f"`{name}`" for name in operators)]
