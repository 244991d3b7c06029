"""What the looks and findings of a capture amount to: an outcome per requirement, and one verdict."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from validator import redact
from validator.capture.detect import names
from validator.context import Context
from validator.protocol.clauses import LEVELS
from validator.protocol.profile import Profile
from validator.protocol.protocol import load_capabilities
from validator.records import dataclass
from validator.replay.world import World
from validator.report import Outcome, judged_beyond_schema
from validator.requirements import Requirement
from validator.tally import Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REASONS = {
    "not_judgeable": "no rule judges it yet",
    "not_applicable": "the capability was neither declared nor observed",
}
"""Why an outcome is what it is, where the requirement does not say."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a capture there was."""

    lines: int = 0
    readable: int = 0
    events: int = 0
    cut: bool = False
    """The last line does not end."""
    damage: str = ""
    """Why its bytes end too early, when they do."""
    left_out: int = 0
    """Lines that the caller did not want judged."""


@dataclass(slots=True)
class Summing:
    """Everything that a verdict rests on."""

    context: Context
    profile: Profile
    requirements: dict[str, Requirement]
    suppressed: set[str]
    world: World
    tally: Tally

    def outcomes(self) -> tuple[Outcome, ...]:
        """How every requirement of the set fared."""
        off, tally = self._switched_off(), self.tally
        if tally.crashed:
            return tuple([self._outcome(requirement, off) for requirement in self.requirements.values()])
        told = {*tally.looks, *tally.failed, *tally.weights}
        key = (self.world.protocol, self.profile.digest, frozenset(self.suppressed))
        kept = _untouched(key)
        found = []
        for name, requirement in self.requirements.items():
            if name in told:
                found.append(self._outcome(requirement, off))
                continue
            mark = (name, name in off)
            outcome = kept.get(mark)
            if outcome is None:
                outcome = kept[mark] = self._outcome(requirement, off)
            found.append(outcome)
        return tuple(found)

    def _outcome(self, requirement: Requirement, off: set[str]) -> Outcome:
        clause = requirement.id
        level = self.tally.weights.get(clause, self.context.level(clause))
        looks, failed = self.tally.looks.get(clause, 0), self.tally.failed.get(clause, {})
        found = "fail" if level == "MUST" else "warn"
        outcome = found if failed else self._without_finding(requirement, looks, off)
        reason = requirement.reason or _REASONS.get(outcome, "")
        return Outcome(clause, level, outcome, looks, sum(failed.values()), requirement.by, reason)

    def _without_finding(self, requirement: Requirement, looks: int, off: set[str]) -> str:
        if requirement.way in {"kit", "excluded", "open"}:
            return "not_judgeable"
        if requirement.way == "rules":
            if not self.tally.crashed.isdisjoint(requirement.by):
                return "error"
            if self.suppressed.issuperset(requirement.by):
                return "suppressed"
        if looks:
            return "pass"
        return "not_applicable" if requirement.id in off else "not_observed"

    def _switched_off(self) -> set[str]:
        """Clauses of capabilities that were neither declared nor observed."""
        off: set[str] = set()
        protocol, world = self.world.protocol, self.world
        for name, entry in load_capabilities(protocol.store.place).items():
            signs = entry.get("observed_by", {}).get(protocol.id, ())
            if name not in world.capabilities and not any(sign in world.observed_types for sign in signs):
                off |= set(entry["requirements"].get(protocol.id, ()))
        return off

    def verdict(self, extent: Extent, incomplete: tuple[str, ...]) -> str:
        weight = LEVELS.index(self.context.options.fail_on)
        if extent.lines and not extent.readable:
            return "unreadable"
        if any(LEVELS.index(level) >= weight for level in self.tally.weights.values()):
            return "violations"
        return "incomplete" if incomplete else "conformant"

    def incomplete(self, extent: Extent) -> Iterator[str]:
        """What the capture lacks, one sentence each."""
        seen, header = self.world.observed_types, self.world.header
        if header and not self.context.options.protocol and not names(header, self.world.protocol.id):
            yield "the header names a protocol or a version that this judge does not have"
        if extent.left_out:
            yield f"{extent.left_out} of {extent.lines} lines were left out, as the caller asked"
        if not extent.events and not any(seen):
            yield "the capture is empty" if not extent.lines else "no event was seen"
        elif extent.events and seen.keys().isdisjoint((*self.world.protocol.events, *self.world.protocol.records)):
            yield "no event of a type that the protocol lists was seen"
        if extent.cut:
            yield "the last line is cut"
        if extent.damage:
            yield extent.damage
        yield from self._open_work()

    def _open_work(self) -> Iterator[str]:
        if (self.context.options.expect or self.world.header.get("completeness")) == "prefix":
            return
        for subject in self.world.fold.open_work():
            if not subject.doubted:
                yield f"{subject.machine} {redact.mask(subject.key, self.context.canaries)} is still {subject.state}"

    def unmet(self, outcomes: tuple[Outcome, ...]) -> Iterator[str]:
        """What the profile requires and the capture does not show."""
        judged, wanted = judged_beyond_schema(outcomes), self.profile.at_least
        if judged < wanted:
            yield f"{judged} requirements beyond framing and schema were judged, the profile asks for {wanted}"
        missing = {entry.requirement for entry in outcomes if entry.outcome == "not_observed"}
        for clause in self.profile.clauses:
            if clause in missing:
                yield f"{clause} was not observed, and the profile requires it"


@functools.lru_cache(maxsize=16)
def _untouched(key: tuple[Any, ...]) -> dict[tuple[str, bool], Outcome]:
    """How requirements at which nobody looked fare, by whether their capability is switched off; empty at first.

    That is most requirements of most captures, and it hangs on protocol, profile and the rules that were left out.
    """
    return {}
