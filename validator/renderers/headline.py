"""One line that says why a run is red, or that it is green; every format for people begins with it."""

from __future__ import annotations

from validator.report import Report
from validator.rules._catalog import load_rules
from validator.run import Run


def headline(run: Run) -> str:
    if run.partial:
        return f"interrupted: this report is partial; so far {_state(run)}"
    return _state(run)


def _state(run: Run) -> str:
    for say in (_crash, _violations, _fatal_notes, _unreadable, _incomplete):
        text = say(run)
        if text:
            return text
    return _conforms(run)


def _crash(run: Run) -> str | None:
    crashes = [crash for report in run.reports for crash in report.crashes]
    if not crashes:
        return None
    return f"error: {crashes[0].rule} failed itself ({crashes[0].error}); this is a fault of the tool, not of a capture"


def _violations(run: Run) -> str | None:
    found = run.counting()
    if not found:
        return None
    weight = next(report.fail_on for report in run.reports if report.verdict == "violations")
    captures = f" in {_several(sum(report.verdict == 'violations' for report in run.reports), 'capture')}"
    cut = any(sum(report.counts.values()) > len(report.findings) for report in run.reports)
    total = f"{'at least ' if cut else ''}{_several(len(found), 'finding')}"
    first = found[0]
    rule = f"{first.rule} {load_rules()[first.rule].slug}"
    return f"fails: {total} at or above {weight}{captures}; the first is {rule}, {first.file}:{first.line}"


def _fatal_notes(run: Run) -> str | None:
    notes = [note for note in run.notes if note.fails]
    if not notes:
        return None
    more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
    return f"fails: {notes[0].where}: {notes[0].message}{more}"


def _unreadable(run: Run) -> str | None:
    report = next((report for report in run.reports if report.verdict == "unreadable"), None)
    if report is None:
        return None
    return f"unreadable: no line of {report.file} is a JSON object{_guess(run, report)}"


def _guess(run: Run, report: Report) -> str:
    note = next((note for note in run.notes if note.code == "looks-like" and note.file == report.file), None)
    return f"; {note.message}" if note else ""


def _incomplete(run: Run) -> str | None:
    if not run.reports:
        return "incomplete: no capture was judged"
    reports = [report for report in run.reports if report.verdict == "incomplete"]
    if not reports:
        return None
    first = reports[0]
    more = sum(len(report.incomplete) for report in reports) - 1
    reason = first.incomplete[0] if first.incomplete else "evidence is missing"
    tail = f" (and {_several(more, 'more reason')})" if more > 0 else ""
    return f"incomplete: {first.file}: {reason}{tail}{_guess(run, first)}"


def _conforms(run: Run) -> str:
    events = sum(report.events for report in run.reports)
    rest = sum(sum(report.counts.values()) for report in run.reports)
    below = f"; {_several(rest, 'finding')} below {run.reports[0].fail_on}" if rest else ""
    accepted = f"; {_several(len(run.accepted), 'finding')} accepted" if run.accepted else ""
    return f"conforms: {_several(len(run.reports), 'capture')}, {_several(events, 'event')}{below}{accepted}"


def _several(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
