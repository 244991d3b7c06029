"""What a rule is, what a finding says, and the decorator that ties a check to its clauses."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping

from validator.protocol.digest import sha256
from validator.protocol.regex import compiled
from validator.records import dataclass
from validator.replay.form import Given
from validator.replay.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MUST, SHOULD, MAY = "MUST", "SHOULD", "MAY"
END = "end"
"""Listens to the end of the capture; the check gets no step."""
LINE = "line"
"""Listens to every line, readable or not; for framing."""
REPEAT = "repeat"
"""Listens to events that were delivered before; they move nothing."""
UNLISTED = "unlisted"
"""Listens to events of types that the catalogue does not list."""

Check = Callable[..., Iterable["Finding | Findings | Seen"]]
PARTS = ("Why", "Trips", "Near miss", "Fix")


@dataclass(frozen=True, slots=True)
class Seen:
    """Subjects were looked at; for some clauses of the rule, or for all of them."""

    clauses: tuple[str, ...] = ()
    times: int = 1


@functools.lru_cache(maxsize=4096)
def seen(*clauses: str, times: int = 1) -> Seen:
    return Seen(clauses, times)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, with its proof. Rule, level and file are filled in by the engine."""

    line: int
    expected: str
    actual: str
    pointer: str = ""
    clause: str = ""
    entity: tuple[str, str] | None = None
    """Kind and id of the subject it is about."""
    state: str | None = None
    """The state the subject was in before this line."""
    witness: Iterable[int] = ()
    """Lines that, together with the finding's own, are enough to judge the same again.

    A rule may give them by an iterator: it is asked only when the finding is kept, and before the next step.
    """
    fix: str = ""
    key: str = ""
    """What tells this finding from another of the same rule, free of ids and line numbers."""
    cause: int | None = None
    """The line of the finding this one follows from."""
    rule: str = ""
    level: str = ""
    """Given by a rule only for what a profile demands; everything else weighs what its clause weighs."""
    file: str = ""
    offset: int | None = None
    sequence: int | None = None
    event_id: str | None = None
    event_type: str | None = None

    @property
    def fingerprint(self) -> str:
        """The same for the same fault in another run: no ids, no line numbers, no list positions."""
        pointer = compiled(r"/[0-9]+(?=/|$)").sub("/*", self.pointer)
        kind = self.entity[0] if self.entity else ""
        parts = (self.rule, self.clause, self.event_type or "", pointer, kind, self.state or "", self.key)
        return sha256("\n".join(parts).encode()).hexdigest()[:16]


def finding(step: Step, expected: str, actual: str, **more: Any) -> Finding:
    """A finding at a step's own line."""
    return Finding(step.number, expected, actual, **more)


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong in one way with many subjects at once; findings are made only of as many as are kept.

    Not for a rule of which a finding may follow from an earlier one.
    """

    count: int
    clause: str
    each: Iterable[Finding]


class TableClauses(Mapping[str, tuple[str, ...]]):
    """Protocol to the clauses that the rows of its tables cite, and some more; read when a protocol is asked for."""

    def __init__(self, more: Mapping[str, tuple[str, ...]] | None = None):
        from validator.protocol.protocol import available

        self._names = [name.partition("/")[0] for name in available()]
        self._more = more or {}

    def __getitem__(self, name: str) -> tuple[str, ...]:
        if name not in self._names:
            raise KeyError(name)
        return (*_cited(name), *self._more.get(name, ()))

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@functools.cache
def _cited(name: str) -> tuple[str, ...]:
    from validator.protocol.protocol import load_protocol

    return tuple(dict.fromkeys(row.clause for row in load_protocol(name).rows()))


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A check with everything that is known about it without running it."""

    id: str
    slug: str
    clauses: Mapping[str, tuple[str, ...]]
    """Protocol to the clauses it judges there; a protocol that is not listed does not know the rule."""
    on: tuple[str, ...]
    """What wakes it: event types or patterns, `record:<kind>`, `end`, `line`."""
    check: Check
    ledgers: tuple[type, ...] = ()
    text: str = ""
    """The docstring of its module."""
    evidence: tuple[str, ...] = ()
    """Fields it rests on; where an importer made them up, the rule has observed nothing."""
    follows: bool = False
    """It reports refused moves, so a finding about a subject may follow from an earlier one about it."""
    quiet: Callable[..., Any] | None = None
    """Gives a key for a step, a world and a context when it certainly finds nothing; the same key, the same looks."""
    given: Given = ()
    """Keys of which a line has to hold one, or a function of its form; about other lines it has nothing to say."""
    since: tuple[str, ...] = ()
    """Types, records and keys; before one of them came it has nothing to say, except at the end."""

    @property
    def doc(self) -> dict[str, str]:
        """The parts of its text, by name."""
        return document(self.text)

    @property
    def summary(self) -> str:
        return self.doc["summary"]

    @property
    def fix(self) -> str:
        return self.doc.get("Fix", "")


def rule(
    rule_id: str,
    slug: str,
    *,
    clauses: Mapping[str, str | tuple[str, ...]],
    on: str | tuple[str, ...] = "*",
    needs: tuple[type, ...] = (),
    evidence: tuple[str, ...] = (),
    follows: bool = False,
    quiet: Callable[..., Any] | None = None,
    given: Given = (),
    since: tuple[str, ...] = (),
) -> Callable[[Check], Rule]:
    """Makes a rule of a check; the page of the rule is the docstring of its module."""

    def make(check: Check) -> Rule:
        text = (check.__globals__.get("__doc__") or "").strip()
        listed = clauses if isinstance(clauses, TableClauses) else _listed(clauses)
        wakes = (on,) if isinstance(on, str) else tuple(on)
        return Rule(rule_id, slug, listed, wakes, check, needs, text, evidence, follows, quiet, given, since)

    return make


def _listed(clauses: Mapping[str, str | tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: (ids,) if isinstance(ids, str) else tuple(ids) for name, ids in clauses.items()}


@functools.cache
def document(text: str) -> dict[str, str]:
    """The parts of a rule's docstring: the summary, then Why, Trips, Near miss and Fix."""
    parts = {"summary": text.split("\n\n", 1)[0].replace("\n", " ").strip()}
    pattern = r"(?:^|\n|\s{2})(" + "|".join(PARTS) + r"): "
    pieces = compiled(pattern).split(text)
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        parts[name] = " ".join(body.split())
    return parts
