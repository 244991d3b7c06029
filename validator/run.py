"""One pass of the command line over captures: their reports, what was accepted, and what is wrong beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from validator.protocol.clauses import LEVELS
from validator.records import dataclass, replace
from validator.report import Outcome, Report
from validator.rules import Finding

INTERRUPTED = 130
_PRECEDENCE = (2, 1, 4, 3, 0)


@dataclass(frozen=True, slots=True)
class Note:
    """Something to say that is no finding in a capture: a stale baseline entry, an unused suppression, a guess."""

    code: str
    message: str
    file: str
    line: int | None = None
    fails: bool = True
    """It turns the run red; a note that does not is only said."""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Accepted:
    """A finding that does not count, and why."""

    finding: Finding
    by: str
    """baseline or suppression."""
    reason: str


@dataclass(frozen=True, slots=True)
class Run:
    """What the renderers show."""

    reports: tuple[Report, ...]
    notes: tuple[Note, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    partial: bool = False
    """It was interrupted: what was not read is not judged."""

    @property
    def exit_code(self) -> int:
        codes = {report.exit_code for report in self.reports} | {1 for note in self.notes if note.fails}
        code = worst(codes or {3})
        return INTERRUPTED if self.partial else code

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(found for report in self.reports for found in report.findings)

    def counting(self) -> tuple[Finding, ...]:
        """Findings that weigh enough to fail the run."""
        return tuple(found for report in self.reports for found in report.findings if counts(found, report.fail_on))


def worst(codes: Iterable[int]) -> int:
    """The exit code that wins over the others."""
    found = set(codes)
    return next(code for code in _PRECEDENCE if code in found)


def counts(found: Finding, fail_on: str) -> bool:
    return LEVELS.index(found.level) >= LEVELS.index(fail_on)


def accept(report: Report, decide: Callable[[Finding], Accepted | None]) -> tuple[Report, list[Accepted]]:
    """A report without the findings that somebody accepted; the report must hold every finding, none cut off."""
    kept: list[Finding] = []
    taken: list[Accepted] = []
    for found in report.findings:
        decision = decide(found)
        if decision is None:
            kept.append(found)
        else:
            taken.append(decision)
    return (_without(report, kept, taken), taken) if taken else (report, taken)


def _without(report: Report, kept: list[Finding], taken: list[Accepted]) -> Report:
    counted: dict[str, int] = {}
    for found in kept:
        counted[found.rule] = counted.get(found.rule, 0) + 1
    gone: dict[str, int] = {}
    for entry in taken:
        gone[entry.finding.clause] = gone.get(entry.finding.clause, 0) + 1
    return replace(
        report,
        findings=tuple(kept),
        counts=dict(sorted(counted.items())),
        requirements=tuple(_outcome(entry, gone.get(entry.requirement, 0)) for entry in report.requirements),
        verdict=_verdict(report, kept),
    )


def _outcome(entry: Outcome, gone: int) -> Outcome:
    if not gone:
        return entry
    left = entry.findings - gone
    return replace(entry, findings=left, outcome=entry.outcome if left else "suppressed")


def _verdict(report: Report, kept: list[Finding]) -> str:
    if report.verdict != "violations" or any(counts(found, report.fail_on) for found in kept):
        return report.verdict
    return "incomplete" if report.incomplete else "conformant"


def cap(report: Report, most: int) -> Report:
    """A report that lists at most so many findings of a rule; its counts stay whole."""
    listed: dict[str, int] = {}
    kept = []
    for found in report.findings:
        listed[found.rule] = listed.get(found.rule, 0) + 1
        if listed[found.rule] <= most:
            kept.append(found)
    return report if len(kept) == len(report.findings) else replace(report, findings=tuple(kept))
