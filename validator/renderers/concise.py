"""One line per finding, in the form editors and people jump to: file, line, rule, weight, what was found."""

from __future__ import annotations

from validator.renderers.headline import headline
from validator.renderers.look import PLAIN, Look
from validator.rules import Finding
from validator.run import Run


def render(run: Run, look: Look = PLAIN) -> str:
    lines = [headline(run)]
    for report in run.reports:
        lines += [finding(found) for found in report.findings]
        lines += [f"{report.file}: incomplete: {reason}" for reason in report.incomplete]
        lines += [f"{report.file}:{crash.line}: error: {crash.rule} failed itself" for crash in report.crashes]
    lines += [f"{note.where}: {note.code}: {note.message}" for note in run.notes]
    return "\n".join(lines) + "\n"


def finding(found: Finding) -> str:
    """One finding on one line."""
    place = f" at {found.pointer}" if found.pointer else ""
    heads = f"{found.file}:{found.line}: {found.rule} {found.level} {found.clause}"
    return f"{heads}: expected {found.expected}, found {found.actual}{place}"
