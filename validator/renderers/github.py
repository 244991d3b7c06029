"""GitHub workflow commands: annotations at the lines of a capture, no more than the platform shows for one step."""

from __future__ import annotations

from collections.abc import Iterator

from validator.renderers.headline import headline
from validator.renderers.look import PLAIN, Look
from validator.rules._catalog import load_rules
from validator.run import Run

MOST_OF_A_KIND = 10
"""GitHub shows ten errors, ten warnings and ten notices of a step and drops the rest without a word."""
_KINDS = {"MUST": "error", "SHOULD": "warning", "MAY": "notice"}


def render(run: Run, look: Look = PLAIN) -> str:
    lines = [headline(run)]
    shown: dict[str, int] = {}
    dropped = 0
    for kind, text in _annotations(run):
        shown[kind] = shown.get(kind, 0) + 1
        if shown[kind] <= MOST_OF_A_KIND:
            lines.append(text)
        else:
            dropped += 1
    if dropped:
        lines.append(f"{dropped} more in the summary")
    return "\n".join(lines) + "\n"


def _annotations(run: Run) -> Iterator[tuple[str, str]]:
    for report in run.reports:
        for crash in report.crashes:
            title = f"{crash.rule} failed itself"
            yield "error", _command("error", report.file, crash.line, title, f"{crash.error}: a fault of the tool")
    for note in run.notes:
        kind = "error" if note.fails else "notice"
        yield kind, _command(kind, note.file, note.line, note.code, note.message)
    for report in run.reports:
        if report.verdict == "unreadable":
            yield "error", _command("error", report.file, None, "unreadable", "no line is a JSON object")
        for found in report.findings:
            kind = _KINDS[found.level]
            title = f"{found.rule} {load_rules()[found.rule].slug} ({found.clause})"
            text = f"expected {found.expected}\nfound {found.actual}\nfix: {found.fix}"
            yield kind, _command(kind, found.file, found.line, title, text)
        for reason in report.incomplete:
            yield "warning", _command("warning", report.file, None, "incomplete", reason)


def _command(kind: str, file: str, line: int | None, title: str, text: str) -> str:
    place = f",line={line}" if line else ""
    return f"::{kind} file={_property(file)}{place},title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
