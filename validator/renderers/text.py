"""A report for a person: why it failed, where, what the spec says, how to fix it; then one honest line of totals."""

from __future__ import annotations

from collections.abc import Iterator

from validator import resources
from validator.protocol.clauses import load_clauses
from validator.protocol.protocol import available
from validator.renderers.grouping import Group, groups
from validator.renderers.headline import headline
from validator.renderers.look import PLAIN, Look
from validator.report import OUTCOMES, Report
from validator.rules import Finding
from validator.rules._catalog import load_rules
from validator.run import Run

_WORDS = {
    "conformant": ("conforms", "green"),
    "violations": ("does not conform", "red"),
    "incomplete": ("is incomplete", "yellow"),
    "unreadable": ("cannot be read", "red"),
}
_LEVELS = {"MUST": "red", "SHOULD": "yellow", "MAY": "cyan"}
_MOST_REASONS = 8


def render(run: Run, look: Look = PLAIN) -> str:
    color = "green" if run.exit_code == 0 else "yellow" if run.exit_code == 3 else "red"
    lines = [look.paint(headline(run), "bold", color)]
    for report in run.reports:
        lines += ["", *_report(report, look)]
    if run.notes:
        lines += ["", *(f"{note.where}: {note.code}: {note.message}" for note in run.notes)]
    return "\n".join(lines) + "\n"


def _report(report: Report, look: Look) -> Iterator[str]:
    against = f" ({report.protocol}, profile {report.profile})" if report.protocol else ""
    words, color = _WORDS[report.verdict]
    yield f"{look.paint(report.file, 'bold')} {look.paint(words, color)}{against}"
    for group in groups(report.findings):
        yield ""
        yield from _group(group, look)
    for crash in report.crashes:
        yield f"error: {crash.rule} failed at line {crash.line} ({crash.error}); its requirements are not judged"
    yield from _reasons(report)
    yield from _hints(report)
    yield ""
    yield look.paint(_totals(report), "dim")


def _group(group: Group, look: Look) -> Iterator[str]:
    first, others = group.first, group.findings[1:]
    rule = load_rules()[first.rule]
    level = look.paint(first.level, "bold", _LEVELS[first.level])
    yield f"{level} {look.paint(first.rule, 'bold')} {rule.slug}: {rule.summary}"
    yield f"  where     {where(first)}"
    yield f"  expected  {first.expected}"
    yield f"  found     {first.actual}{_state(first)}"
    clause = load_clauses(resources.folder("spec")).get(first.clause)
    if clause:
        yield from _wrapped("  spec      ", f"{clause.id}: {clause.sentence}", look)
    if first.witness:
        yield f"  proof     these lines alone show it: --lines {proof(first)}"
    yield from _wrapped("  fix       ", first.fix, look)
    if group.consequences:
        yield from _wrapped("  leads to  ", group.leads_to, look)
    if others:
        lines = numbers(tuple(found.line for found in others))
        yield f"  again     {len(others)} more like it, line{'s' if len(others) > 1 else ''} {lines}"


def where(found: Finding) -> str:
    """The place of a finding in words."""
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


def numbers(lines: tuple[int, ...]) -> str:
    """Line numbers, the first ten of them."""
    shown = ", ".join(str(number) for number in lines[:10])
    return f"{shown}, ..." if len(lines) > 10 else shown


def proof(found: Finding) -> str:
    """The lines of a proof as `--lines` takes them."""
    runs: list[list[int]] = []
    for number in sorted({*found.witness, found.line}):
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def _wrapped(head: str, text: str, look: Look) -> Iterator[str]:
    import textwrap  # only a finding has lines to break

    lines = textwrap.wrap(text, max(look.width - len(head), 30)) or [""]
    yield head + lines[0]
    yield from (" " * len(head) + line for line in lines[1:])


def _reasons(report: Report) -> Iterator[str]:
    if report.incomplete:
        yield ""
        for reason in report.incomplete[:_MOST_REASONS]:
            yield f"incomplete: {reason}"
        if len(report.incomplete) > _MOST_REASONS:
            yield f"incomplete: and {len(report.incomplete) - _MOST_REASONS} more reasons"


def _hints(report: Report) -> Iterator[str]:
    """What to do about an input that is no capture of ours."""
    if report.verdict == "unreadable":
        yield "hint: a capture has one JSON object on each line; jq -c . FILE puts a document that is printed over many"
        yield "      lines on one"
    elif report.protocol is None and report.lines:
        yield f"hint: known protocols are {', '.join(available())}; name one with --protocol, or in a header"


def _totals(report: Report) -> str:
    totals = report.totals()
    shown = ", ".join(f"{totals[name]} {name.replace('_', ' ')}" for name in OUTCOMES if totals[name])
    count = sum(report.counts.values())
    judged = (
        f"of {len(report.requirements)} requirements: {shown}" if report.requirements else "no requirement was judged"
    )
    told = ((report.lines, "line"), (report.events, "event"), (count, "finding"))
    return ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in told) + f"; {judged}"
