"""From judged captures to a run: suppressions first, then the baseline, then what is wrong with either."""

from __future__ import annotations

from validator.judging import Judged
from validator.report import Report
from validator.run import Note, Run, accept, cap
from validator.settings import Settings
from validator.suppressions import Suppressions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from validator.baseline import Baseline, Ledger


def settle(judged: Judged, settings: Settings, baseline: Baseline | None, as_of: str, subset: bool = False) -> Run:
    """The run that is shown; `as_of` is the day on which dates are compared, YYYY-MM-DD.

    A subset of the captures, or a run that was interrupted, proves no entry stale and no suppression unused.
    """
    entries = settings.config.suppressions if settings.config else ()
    suppressions = Suppressions(entries, as_of)
    ledger = _ledger(baseline, as_of) if baseline else None
    reports, accepted = [], []
    for report in judged.reports:
        report, taken = accept(report, suppressions.decide)
        accepted += taken
        if ledger:
            report, taken = accept(report, ledger.decide)
            accepted += taken
        reports.append(cap(report, settings["max-findings-per-rule"]))
    notes = [*judged.notes, *_complaints(judged, settings, suppressions, ledger, judged.partial or subset)]
    return Run(tuple(reports), tuple(notes), tuple(accepted), judged.partial)


def _ledger(baseline: Baseline, as_of: str) -> Ledger:
    from validator.baseline import Ledger

    return Ledger(baseline, as_of)


def _complaints(
    judged: Judged, settings: Settings, suppressions: Suppressions, ledger: Ledger | None, partial: bool
) -> list[Note]:
    if not ledger and not (settings.config and settings.config.suppressions):
        return []
    rules = settings.judged_rules()
    found = list(suppressions.notes([report.file for report in judged.reports], rules, partial))
    if ledger:
        found += ledger.notes(rules, looks(judged.reports), partial)
    return found


def looks(reports: list[Report]) -> dict[str, int]:
    """Subjects that each rule looked at in all captures."""
    total: dict[str, int] = {}
    for report in reports:
        for rule, count in report.looks.items():
            total[rule] = total.get(rule, 0) + count
    return total
