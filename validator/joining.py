"""What those who judge sessions of one capture apart tell one another, and what it comes to when it is put together."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any

from validator.context import Context
from validator.protocol.protocol import Protocol
from validator.records import dataclass
from validator.replay.seen import short
from validator.replay.step import Step
from validator.replay.subject import Subject
from validator.rules import Finding, Rule
from validator.sharing import Part
from validator.tally import Tally


class InseparableError(Exception):
    """The sessions of a capture cannot be judged apart."""


@dataclass(slots=True)
class Seal:
    """What a judge of some sessions met, as far as the others have to know it."""

    names: bytes
    events: bytes
    doubt: tuple[int | None, bool]
    told: dict[str, Any]
    mingled: bool
    placeless: bool


@dataclass(slots=True)
class Verdict:
    """What a judge of some sessions found."""

    part: Part
    dates: list[int | None]
    events: int
    observed: dict[str, int]
    opened: list[tuple[int, Subject]]
    agrees: bool


class Dated(Tally):
    """A tally that knows at which line each of its findings was made; at none: at the end."""

    def __init__(self, file: str, world: Any, level: Callable[[str], str], most: int):
        super().__init__(file, world, level, most)
        self.dates: list[int | None] = []

    def _tell(self, rule: Rule, step: Step | None, found: Finding, clauses: tuple[str, ...], context: Context) -> None:
        super()._tell(rule, step, found, clauses, context)
        if len(self.findings) > len(self.dates):
            self.dates.append(None if step is None else step.number)


class Opened(dict[str, Subject]):
    """Open subjects by id, each with the line at which it was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.since: dict[str, int] = {}

    def __setitem__(self, key: str, subject: Subject) -> None:
        if key not in self:
            self.since[key] = subject.heard
        super().__setitem__(key, subject)

    def pop(self, key: str, default: Any = None) -> Any:  # type: ignore[override]
        self.since.pop(key, None)
        return super().pop(key, default)


def agree(seals: list[Seal], protocol: Protocol) -> bool:
    """True when no two judges met anything that the other should have known of."""
    if any(seal.mingled for seal in seals):
        return False
    if any(seal.placeless for seal in seals) and any(seal.doubt[0] is not None for seal in seals):
        return False
    reserved = array("Q", map(short, ("", *_words(protocol)))).tobytes()
    return _are_apart([seal.events for seal in seals]) and _are_apart([reserved, *(seal.names for seal in seals)])


def _words(protocol: Protocol) -> set[str]:
    """Words that stand beside ids in the keys of ledgers."""
    return {*protocol.identities, *protocol.machines, *protocol.events, *protocol.snapshots, "stream", "output_ref"}


def _are_apart(digests: list[bytes]) -> bool:
    met: set[int] = set()
    for found in digests:
        numbers = set(array("Q", found))
        if not met.isdisjoint(numbers):
            return False
        met |= numbers
    return True


def merged(verdicts: list[Verdict], most: int) -> list[Finding]:
    """The findings of all in the order in which one judge would have made them, as many of each rule as are kept."""
    at_once, at_end = list[tuple[int, Finding]](), list[Finding]()
    places: dict[tuple[int, str, str], int] = {}
    ended: dict[str, set[int]] = {}
    for index, verdict in enumerate(verdicts):
        for finding, date in zip(verdict.part.findings, verdict.dates, strict=True):
            if places.setdefault((finding.line, finding.rule, finding.pointer), index) != index:
                raise InseparableError
            if date is None:
                at_end.append(finding)
                ended.setdefault(finding.rule, set()).add(index)
            else:
                at_once.append((date, finding))
    kept: list[Finding] = []
    counts: dict[str, int] = {}
    for finding in (*(entry for _, entry in sorted(at_once, key=lambda entry: entry[0])), *at_end):
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
        if counts[finding.rule] <= most:
            kept.append(finding)
    # In which order one judge would have made those at the end is not known.
    if any(counts[rule] > most for rule in ended):
        raise InseparableError
    return kept


def summed(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Counts added up, name by name."""
    found: dict[str, int] = {}
    for entry in counts:
        for name, times in entry.items():
            found[name] = found.get(name, 0) + times
    return found
