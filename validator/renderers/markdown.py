"""A report for a pull request or a step summary: the reason, a table of captures, then each kind of finding."""

from __future__ import annotations

from collections.abc import Iterator

from validator import resources
from validator.protocol.clauses import load_clauses
from validator.renderers.grouping import Group, groups
from validator.renderers.headline import headline
from validator.renderers.look import PLAIN, Look
from validator.renderers.printable import printable
from validator.renderers.text import proof, where
from validator.report import OUTCOMES, Report
from validator.rules._catalog import load_rules
from validator.run import Run

_MOST = 100
"""Kinds of findings told in full; a step summary holds one mebibyte."""


def render(run: Run, look: Look = PLAIN) -> str:
    return "\n".join(_lines(run)) + "\n"


def _lines(run: Run) -> Iterator[str]:
    yield "# runtime-validate"
    yield ""
    yield f"**{escape(headline(run))}**"
    yield ""
    yield "| Capture | Protocol | Verdict | Events | Findings | Requirements |"
    yield "|---|---|---|---|---|---|"
    yield from (_row(report) for report in run.reports)
    for report in run.reports:
        for reason in report.incomplete[:20]:
            yield f"\n* {escape(report.file)} is incomplete: {escape(reason)}"
    for note in run.notes:
        yield f"\n* `{code(note.where)}` {note.code}: {escape(note.message)}"
    kinds = groups(run.findings)
    for group in kinds[:_MOST]:
        yield from _group(group)
    if len(kinds) > _MOST:
        yield f"\n{len(kinds) - _MOST} more kinds of findings; the other formats list them all."


def _row(report: Report) -> str:
    totals = report.totals()
    shown = ", ".join(f"{totals[name]} {name.replace('_', ' ')}" for name in OUTCOMES if totals[name]) or "none judged"
    against = f"{report.protocol}, {report.profile}" if report.protocol else "not known"
    count = sum(report.counts.values())
    return f"| {escape(report.file)} | {against} | {report.verdict} | {report.events} | {count} | {shown} |"


def _group(group: Group) -> Iterator[str]:
    first = group.first
    rule = load_rules()[first.rule]
    clause = load_clauses(resources.folder("spec")).get(first.clause)
    yield f"\n## {first.level} {first.rule} {rule.slug}"
    yield ""
    yield f"* where: `{code(where(first))}`"
    yield f"* expected: {escape(first.expected)}"
    yield f"* found: {escape(first.actual)}"
    if clause:
        yield f"* spec: {clause.id}: {clause.sentence}"
    if first.witness:
        yield f"* proof: these lines alone show it: `--lines {proof(first)}`"
    yield f"* fix: {escape(first.fix)}"
    if group.consequences:
        yield f"* leads to: {escape(group.leads_to)}"
    if len(group.findings) > 1:
        yield f"* again: {len(group.findings) - 1} more like it"


def escape(text: str) -> str:
    """Text that Markdown shows as it stands, in a table cell too."""
    for sign in "\\`*_[]<>|":
        text = text.replace(sign, f"\\{sign}")
    return printable(" ".join(text.split()))


def code(text: str) -> str:
    """Text between backticks."""
    return printable(" ".join(text.replace("`", "'").split()))
