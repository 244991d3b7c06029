"""The clause index, read from the chapters in `spec/`.

A clause is a paragraph that opens with its id in bold, `**TASK-8.**`, and holds exactly one normative keyword. Ids
are never reused and never renumbered; the number says nothing about the order.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Mapping

from validator import resources
from validator.datafile import shown
from validator.errors import DefinitionError
from validator.protocol.keep import NOTHING, shipped
from validator.protocol.regex import compiled
from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

LEVELS = ("MAY", "SHOULD", "MUST")

_CLAUSE = r"^\*\*([A-Z]{2,6}-[0-9]+)\.\*\* (.+)$"
_LINK = r"\[([^\]]*)\]\([^)]*\)"
_KEYWORD = r"\b(MUST NOT|MUST|SHOULD NOT|SHOULD|MAY)\b"


@dataclass(frozen=True, slots=True)
class Clause:
    """One requirement in words."""

    id: str
    keyword: str
    text: str
    file: str
    line: int

    @property
    def level(self) -> str:
        """The weight of the keyword: a prohibition weighs as much as a demand."""
        return self.keyword.removesuffix(" NOT")

    @property
    def sentence(self) -> str:
        """The text for readers outside of its chapter, from where its links lead nowhere."""
        return compiled(_LINK).sub(r"\1", self.text)


Told = tuple[str, str, str, str, int]
"""The fields of a clause."""


class Clauses(Mapping[str, Clause]):
    """Clauses by id, in the order of their ids; each is made when it is first asked for, since a run needs a part."""

    def __init__(self, rows: Iterable[Told]):
        self._rows = {row[0]: row for row in rows}
        self._made: dict[str, Clause] = {}

    def __getitem__(self, name: str) -> Clause:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = Clause(*self._rows[name])
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def below(self, homes: tuple[str, ...]) -> list[Clause]:
        """Those whose chapters lie in some folders."""
        return [self[name] for name, row in self._rows.items() if row[3].startswith(homes)]


def load_clauses(root: str | Path) -> Clauses:
    """Every clause of every chapter below a `spec` folder."""
    return _clauses(os.fspath(root))


@functools.lru_cache(maxsize=8)
def _clauses(root: str) -> Clauses:
    keep = shipped() if root == resources.folder("spec") else NOTHING
    known = keep.get("clauses")
    if known is None:
        found = sorted(_index(root).values(), key=_order)
        known = [(clause.id, clause.keyword, clause.text, clause.file, clause.line) for clause in found]
        keep.put("clauses", lambda: known)
    return Clauses(known)


def _order(clause: Clause) -> tuple[str, int]:
    prefix, _, number = clause.id.partition("-")
    return prefix, int(number)


def _index(folder: str) -> dict[str, Clause]:
    from pathlib import Path

    root = Path(folder)
    clauses: dict[str, Clause] = {}
    for path in sorted(root.rglob("*.md")):
        if path.relative_to(root).parts[0] == "generated":
            continue
        for clause in _read(path):
            if clause.id in clauses:
                first = clauses[clause.id]
                reason = f"{clause.id} is already the id of {first.file} line {first.line}"
                raise DefinitionError(reason, source=clause.file, place=f"line {clause.line}")
            clauses[clause.id] = clause
    return clauses


def _read(path: Path) -> list[Clause]:
    clauses = []
    paragraph: list[str] = []
    start = 0
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], start=1):
        if line.strip():
            if not paragraph:
                start = number
            paragraph.append(line.strip())
            continue
        match = compiled(_CLAUSE).match(" ".join(paragraph))
        paragraph = []
        if match:
            clauses.append(_clause(match.group(1), match.group(2), shown(path), start))
    return clauses


def _clause(name: str, text: str, file: str, line: int) -> Clause:
    keywords = compiled(_KEYWORD).findall(text)
    if len(keywords) != 1:
        reason = f"{name} has {len(keywords)} normative keywords, a clause has one"
        raise DefinitionError(reason, source=file, place=f"line {line}", hint="split it, or reword in lower case")
    return Clause(name, keywords[0], text, file, line)
