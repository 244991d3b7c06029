"""What a judge says about one capture: frozen data, nothing rendered."""

from __future__ import annotations

from validator.records import dataclass, field
from validator.rules import Finding

OUTCOMES = (
    "pass",
    "fail",
    "warn",
    "not_observed",
    "not_applicable",
    "not_judgeable",
    "suppressed",
    "error",
)
OBSERVED = frozenset({"pass", "fail", "warn"})
"""Outcomes of a requirement that some subject was really looked at for."""
_FRAMING_AND_SCHEMA = ("FRM", "SCH")
VERDICTS = ("conformant", "violations", "incomplete", "unreadable")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one requirement fared."""

    requirement: str
    level: str
    outcome: str
    looks: int = 0
    findings: int = 0
    rules: tuple[str, ...] = ()
    reason: str = ""


def judged_beyond_schema(outcomes: tuple[Outcome, ...]) -> int:
    """How many requirements were judged by more than framing and schema."""
    observed = (entry for entry in outcomes if entry.outcome in OBSERVED)
    return sum(any(not rule.startswith(_FRAMING_AND_SCHEMA) for rule in entry.rules) for entry in observed)


@dataclass(frozen=True, slots=True)
class Crash:
    """A rule that failed itself; never hidden behind another outcome."""

    rule: str
    line: int
    error: str


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict on one capture, with everything it rests on."""

    file: str
    protocol: str | None
    profile: str | None
    profile_digest: str | None
    verdict: str
    lines: int
    events: int
    findings: tuple[Finding, ...]
    counts: dict[str, int] = field(default_factory=dict)
    """Findings per rule, those beyond the cap included."""
    looks: dict[str, int] = field(default_factory=dict)
    """Subjects each rule looked at, findings included."""
    requirements: tuple[Outcome, ...] = ()
    incomplete: tuple[str, ...] = ()
    """What makes the capture incomplete, one sentence each."""
    unmet: tuple[str, ...] = ()
    """Those of them that say what the profile asks to see and this capture does not show."""
    crashes: tuple[Crash, ...] = ()
    fail_on: str = "MUST"

    @property
    def exit_code(self) -> int:
        """The precedence of the exit codes: our own fault, a finding, unreadable, incomplete, conformant."""
        if self.crashes:
            return 2
        return {"violations": 1, "unreadable": 4, "incomplete": 3, "conformant": 0}[self.verdict]

    def totals(self) -> dict[str, int]:
        """Requirements per outcome; they add up to the size of the set."""
        return {name: sum(entry.outcome == name for entry in self.requirements) for name in OUTCOMES}
