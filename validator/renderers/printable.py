"""What a capture says must not act: control characters from its ids would steer a terminal or a CI log."""

from __future__ import annotations

from validator.protocol.regex import compiled
from validator.records import replace
from validator.report import Report
from validator.rules import Finding
from validator.run import Run

_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
_TEXTS = ("expected", "actual", "pointer", "state", "file", "event_id", "event_type")


def printable(text: str) -> str:
    """One line of text in which nothing is a command."""
    # All of them count as not printable, as do some others.
    return text if text.isprintable() else compiled(_CONTROL).sub("\ufffd", text)


def printable_run(run: Run) -> Run:
    """A run whose every text a person can be shown."""
    return replace(
        run,
        reports=tuple(_report(report) for report in run.reports),
        notes=tuple(replace(note, file=printable(note.file), message=printable(note.message)) for note in run.notes),
    )


def _report(report: Report) -> Report:
    return replace(
        report,
        file=printable(report.file),
        findings=tuple(printable_finding(found) for found in report.findings),
        incomplete=tuple(printable(reason) for reason in report.incomplete),
    )


def printable_finding(found: Finding) -> Finding:
    """A finding whose every text a person can be shown; mostly it is the same one."""
    texts = {name: value for name in _TEXTS if (value := getattr(found, name)) and compiled(_CONTROL).search(value)}
    changed = {name: printable(value) for name, value in texts.items()}
    if found.entity and compiled(_CONTROL).search(found.entity[1]):
        changed["entity"] = (found.entity[0], printable(found.entity[1]))
    return replace(found, **changed) if changed else found
