"""Passive certification: many captures judged together, one outcome per requirement over the whole set.

A requirement that a profile demands has to be observed in some capture, not in each. No rule is left out, nothing is
accepted by a baseline or a suppression: a statement says what captures show.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from pathlib import Path

from validator import resources
from validator.capture.sources import STDIN, open_capture
from validator.coverage import Coverage, measure, nothing
from validator.engine import Options
from validator.errors import UsageError
from validator.judging import judge
from validator.protocol import lock
from validator.protocol.profile import Profile, load_profile
from validator.protocol.protocol import Protocol, load_protocol
from validator.records import dataclass
from validator.report import OBSERVED, OUTCOMES, Outcome, Report, judged_beyond_schema
from validator.requirements import load_requirements
from validator.rules import Finding
from validator.rules._catalog import load_rules
from validator.run import worst
from validator.stories import stories

_STRONGEST = ("error", "fail", "warn", "pass", "suppressed", "not_observed", "not_applicable", "not_judgeable")


@dataclass(frozen=True, slots=True)
class Sample:
    """One capture of the set."""

    report: Report
    digest: str

    @property
    def verdict(self) -> str:
        """The capture's own verdict; what only the profile misses in it may be seen in another."""
        verdict = self.report.verdict
        return "conformant" if verdict == "incomplete" and not lacking(self.report) else verdict


@dataclass(frozen=True, slots=True)
class Missing:
    """A requirement that no capture shows, and what would show it."""

    requirement: str
    level: str
    text: str
    required: bool
    stories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a set of captures amounts to under a profile."""

    protocol: Protocol
    profile: Profile
    samples: tuple[Sample, ...]
    outcomes: tuple[Outcome, ...]
    missing: tuple[Missing, ...]
    coverage: Coverage
    rules_digest: str
    contract_digest: str
    partial: bool = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(found for sample in self.samples for found in sample.report.findings)

    def totals(self) -> dict[str, int]:
        """Requirements per outcome; they add up to the size of the set."""
        return {name: sum(entry.outcome == name for entry in self.outcomes) for name in OUTCOMES}

    def reasons(self) -> tuple[str, ...]:
        """Why the set is not certified; empty when it is."""
        found = ["the run was interrupted"] if self.partial else []
        for sample in self.samples:
            report = sample.report
            found += [f"{report.file}: {crash.rule} failed itself" for crash in report.crashes]
            if report.verdict == "unreadable":
                found.append(f"{report.file}: no line is a JSON object")
            found += [f"{report.file}: {reason}" for reason in lacking(report)]
        for entry in self.outcomes:
            if entry.outcome == "fail":
                found.append(f"{entry.requirement} fails ({entry.findings} finding{'s' * (entry.findings != 1)})")
        found += [f"{entry.requirement} was never observed" for entry in self.missing if entry.required]
        judged = judged_beyond_schema(self.outcomes)
        if judged < self.profile.at_least:
            asked = f"the profile asks for {self.profile.at_least}"
            found.append(f"{judged} requirements beyond framing and schema were judged, {asked}")
        return tuple(found)

    @property
    def exit_code(self) -> int:
        if self.partial:
            return 130
        codes = {2 for sample in self.samples if sample.report.crashes}
        codes |= {1 for entry in self.outcomes if entry.outcome == "fail"}
        codes |= {4 for sample in self.samples if sample.report.verdict == "unreadable"}
        return worst(codes | ({3} if self.reasons() else {0}))


def certify(
    paths: list[str], profile: str, protocol: str | None = None, canaries: tuple = (), jobs: int | str = 1
) -> Statement:
    """Judges all captures under one profile and sums them up."""
    if STDIN in paths:
        raise UsageError("a statement names files", hint="save the stream to a file, so that its digest can be checked")
    options = Options(protocol=protocol, profile=profile, canaries=canaries, max_findings_per_rule=20)
    judged = judge(paths, options, jobs)
    dialect = _dialect(judged.reports, protocol)
    own = load_profile(dialect, profile)
    outcomes = tuple(_merged(judged.reports, dialect))
    coverage = nothing(dialect)
    for report in judged.reports:
        with open_capture(report.file) as stream:
            coverage = coverage.joined(measure(dialect, stream))
    return Statement(
        protocol=dialect,
        profile=own,
        samples=tuple(Sample(report, file_digest(Path(report.file))) for report in judged.reports),
        outcomes=outcomes,
        missing=never_observed(outcomes, own, dialect),
        coverage=coverage,
        rules_digest=rules_digest(),
        contract_digest=contract_digest(dialect),
        partial=judged.partial,
    )


def _dialect(reports: list[Report], named: str | None) -> Protocol:
    found = sorted({report.protocol for report in reports if report.protocol})
    if len(found) > 1:
        raise UsageError(f"the captures speak {' and '.join(found)}", hint="a statement is about one protocol")
    if not found and named is None:
        raise UsageError("no capture names or looks like a protocol we know", hint="say which one with --protocol")
    return load_protocol(found[0] if found else str(named))


def lacking(report: Report) -> tuple[str, ...]:
    """What makes one capture incomplete by itself; what its profile wants to see may be seen in another."""
    return tuple(reason for reason in report.incomplete if reason not in report.unmet)


def _merged(reports: list[Report], protocol: Protocol) -> list[Outcome]:
    """One outcome per requirement: the strongest that any capture gives."""
    per: dict[str, list[Outcome]] = {name: [] for name in load_requirements(protocol)}
    for report in reports:
        for entry in report.requirements:
            per[entry.requirement].append(entry)
    return [_strongest(name, entries) for name, entries in per.items()]


def _strongest(name: str, entries: list[Outcome]) -> Outcome:
    if not entries:
        return Outcome(name, "MUST", "not_observed")
    best = min(entries, key=lambda entry: _STRONGEST.index(entry.outcome))
    looks, findings = sum(entry.looks for entry in entries), sum(entry.findings for entry in entries)
    return Outcome(name, best.level, best.outcome, looks, findings, best.rules, best.reason)


def never_observed(outcomes: tuple[Outcome, ...], profile: Profile, protocol: Protocol) -> tuple[Missing, ...]:
    """What no capture shows, in the order of the requirements."""
    requirements, known = load_requirements(protocol), stories(protocol)
    found = []
    for entry in outcomes:
        required = entry.requirement in profile.clauses
        if entry.outcome == "not_observed" or (required and entry.outcome not in OBSERVED):
            demand = requirements[entry.requirement]
            told = tuple(known.of(demand))
            found.append(Missing(entry.requirement, entry.level, demand.clause.sentence, required, told))
    return tuple(found)


def file_digest(path: Path) -> str:
    """SHA-256 of a file as it lies there, so that `sha256sum` can check it."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def rules_digest() -> str:
    """SHA-256 over the source of every rule: two statements with the same one were judged alike."""
    sources = {rule.id: inspect.getsource(inspect.getmodule(rule.check)) for rule in load_rules().values()}
    return _digest({name: hashlib.sha256(text.encode()).hexdigest() for name, text in sources.items()})


def contract_digest(protocol: Protocol) -> str:
    """SHA-256 over the files of a protocol, the common ones and the chapters included."""
    schemas, spec = resources.schemas(), resources.spec()
    folders = {
        "protocol": protocol.folder,
        "capture": schemas / "capture" / "1",
        "common": schemas / "common" / "1",
        "spec": spec / protocol.name / protocol.version,
    }
    return _digest({name: lock.digests(folder) for name, folder in folders.items()})


def _digest(data: object) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
