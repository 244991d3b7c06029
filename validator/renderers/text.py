"""A report for a person: why it failed, where, what the spec says, how to fix it; then one honest line of totals."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from validator import resources
from validator.protocol.clauses import load_clauses
from validator.report import OUTCOMES, Report
from validator.rules import Finding
from validator.rules._catalog import load_rules

_WORDS = {
    "conformant": "conforms",
    "violations": "does not conform",
    "incomplete": "is incomplete",
    "unreadable": "cannot be read",
}
_MOST_REASONS = 8


def render(reports: Sequence[Report]) -> str:
    return "\n".join("\n".join(_report(report)) for report in reports) + "\n"


def _report(report: Report) -> Iterator[str]:
    against = f" ({report.protocol}, profile {report.profile})" if report.protocol else ""
    yield f"{report.file} {_WORDS[report.verdict]}{against}"
    groups: dict[str, list[Finding]] = {}
    for found in report.findings:
        groups.setdefault(found.fingerprint, []).append(found)
    for group in groups.values():
        yield ""
        yield from _group(group)
    for crash in report.crashes:
        yield f"error: {crash.rule} failed at line {crash.line} ({crash.error}); its requirements are not judged"
    yield from _reasons(report)
    yield ""
    yield _totals(report)


def _group(group: list[Finding]) -> Iterator[str]:
    first = group[0]
    rule = load_rules()[first.rule]
    yield f"{first.level} {first.rule} {rule.slug}: {rule.summary}"
    yield f"  where     {_where(first)}"
    yield f"  expected  {first.expected}"
    yield f"  found     {first.actual}{_state(first)}"
    clause = load_clauses(resources.spec().resolve()).get(first.clause)
    if clause:
        yield from _wrapped("  spec      ", f"{clause.id}: {clause.text}")
    if first.witness:
        yield f"  proof     these lines alone show it: --lines {_proof(first)}"
    yield from _wrapped("  fix       ", first.fix)
    if len(group) > 1:
        others = _lines(tuple(found.line for found in group[1:]))
        yield f"  again     {len(group) - 1} more like it, line{'s' if len(group) > 2 else ''} {others}"


def _where(found: Finding) -> str:
    parts = [f"{found.file}:{found.line}"]
    if found.event_type:
        parts.append(found.event_type)
    if found.event_id:
        parts.append(f"event {found.event_id}")
    if found.pointer:
        parts.append(f"at {found.pointer}")
    if found.entity:
        parts.append(f"{found.entity[0]} {found.entity[1]}")
    return ", ".join(parts)


def _state(found: Finding) -> str:
    return f" (before: {found.state})" if found.state and found.state not in found.actual else ""


def _lines(numbers: tuple[int, ...]) -> str:
    shown = ", ".join(str(number) for number in numbers[:10])
    return f"{shown}, ..." if len(numbers) > 10 else shown


def _proof(found: Finding) -> str:
    """The lines of a proof as `--lines` takes them."""
    runs: list[list[int]] = []
    for number in sorted({*found.witness, found.line}):
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def _wrapped(head: str, text: str) -> Iterator[str]:
    lines = textwrap.wrap(text, 100) or [""]
    yield head + lines[0]
    yield from (" " * len(head) + line for line in lines[1:])


def _reasons(report: Report) -> Iterator[str]:
    if report.incomplete:
        yield ""
        for reason in report.incomplete[:_MOST_REASONS]:
            yield f"incomplete: {reason}"
        if len(report.incomplete) > _MOST_REASONS:
            yield f"incomplete: and {len(report.incomplete) - _MOST_REASONS} more reasons"


def _totals(report: Report) -> str:
    totals = report.totals()
    shown = ", ".join(f"{totals[name]} {name.replace('_', ' ')}" for name in OUTCOMES if totals[name])
    count = sum(report.counts.values())
    judged = (
        f"of {len(report.requirements)} requirements: {shown}" if report.requirements else "no requirement was judged"
    )
    return f"{report.lines} lines, {report.events} events, {count} findings; {judged}"
