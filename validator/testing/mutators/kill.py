"""Judges mutants: who kills them, and whether what survives still amounts to the same."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

from validator.engine import Options, validate
from validator.protocol.protocol import Protocol
from validator.report import Report
from validator.rules import Finding
from validator.testing.mutators.amounts import amounts
from validator.testing.mutators.lines import Capture, render
from validator.testing.mutators.operator import Mutant


@dataclass(slots=True)
class Seed:
    """A capture that mutants are made of, and how it is judged as it is."""

    name: str
    protocol: Protocol
    lines: Capture
    options: Options
    _counts: dict[str, int] | None = field(default=None, repr=False)

    @property
    def counts(self) -> dict[str, int]:
        """Findings by rule without any change; a golden capture may depart from a SHOULD."""
        if self._counts is None:
            self._counts = dict(report(self.lines, self.options).counts)
        return self._counts


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one mutant."""

    kind: str
    """killed; survived (nobody finds it, and it amounts to the same); or, each of them a fault of ours: missed (nobody
    finds it, and it amounts to something else), misnamed (found, but by none of the rules it names), crashed."""
    killers: tuple[str, ...] = ()


def report(lines: Capture, options: Options) -> Report:
    return validate(io.BytesIO(render(lines)), "-", options)


def judge(lines: Capture, options: Options) -> tuple[Finding, ...]:
    """The findings of a capture."""
    return report(lines, options).findings


def try_mutant(seed: Seed, mutant: Mutant) -> Outcome:
    """Judges a mutant under the options of its seed."""
    told = report(mutant.lines, seed.options)
    if told.crashes:
        return Outcome("crashed", tuple(crash.rule for crash in told.crashes))
    killers = tuple(rule for rule, count in told.counts.items() if count > seed.counts.get(rule, 0))
    if mutant.verdict and told.verdict == mutant.verdict:
        return Outcome("killed", (mutant.verdict,))
    if killers:
        cited = {found.rule for found in told.findings if mutant.clause in (None, found.clause)}
        expected = not mutant.kills or set(mutant.kills) & set(killers) & cited
        return Outcome("killed" if expected and not mutant.verdict else "misnamed", killers)
    same = not mutant.served and amounts(mutant.lines, seed.protocol) == amounts(seed.lines, seed.protocol)
    return Outcome("survived" if same and not mutant.verdict else "missed")
