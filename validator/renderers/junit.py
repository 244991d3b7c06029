"""JUnit XML: a suite per capture, a case per requirement; red here exactly when the exit code is not 0."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from validator.protocol.clauses import LEVELS
from validator.renderers.headline import headline
from validator.renderers.look import PLAIN, Look
from validator.report import Outcome, Report
from validator.rules import Finding
from validator.run import Note, Run

_MOST_LISTED = 20
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def render(run: Run, look: Look = PLAIN) -> str:
    root = ET.Element("testsuites", name="runtime-validate")
    for report in run.reports:
        _suite(root, report.file, _capture(report))
    fatal = [note for note in run.notes if note.fails]
    if fatal or run.partial or not run.reports:
        _suite(root, "runtime-validate", _beside(run, fatal))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, name: str, cases: Iterator[ET.Element]) -> None:
    suite = ET.SubElement(root, "testsuite", name=_clean(name))
    suite.extend(cases)
    suite.set("tests", str(len(suite)))
    for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))


def _beside(run: Run, notes: list[Note]) -> Iterator[ET.Element]:
    for note in notes:
        yield _case("configuration", f"{note.code} {note.where}", "failure", note.code, note.message)
    if run.partial or not run.reports:
        yield _case("configuration", "the whole input was judged", "error", "interrupted", headline(run))


def _capture(report: Report) -> Iterator[ET.Element]:
    home = f"{report.protocol or 'unknown'}.{report.profile or 'default'}"
    readable = report.verdict != "unreadable"
    unreadable = ("error", "unreadable", "no line is a JSON object")
    yield _case(home, "the capture can be read", *(() if readable else unreadable))
    stated = "; ".join(report.incomplete)
    if report.verdict == "incomplete":
        yield _case(home, "the capture is complete", "failure", "incomplete", stated)
    elif stated:
        yield _case(home, "the capture is complete", "skipped", "incomplete", stated)
    else:
        yield _case(home, "the capture is complete")
    for crash in report.crashes:
        yield _case(home, f"{crash.rule} runs", "error", crash.error, f"it failed itself at line {crash.line}")
    by_clause: dict[str, list[Finding]] = {}
    for found in report.findings:
        by_clause.setdefault(found.clause, []).append(found)
    for outcome in report.requirements:
        yield _requirement(home, outcome, by_clause.get(outcome.requirement, []), report.fail_on)


def _requirement(home: str, outcome: Outcome, found: list[Finding], fail_on: str) -> ET.Element:
    name = f"{outcome.requirement} ({outcome.level})"
    if outcome.findings:
        text = "\n".join(_told(entry) for entry in found[:_MOST_LISTED])
        more = outcome.findings - min(len(found), _MOST_LISTED)
        text += f"\nand {more} more" if more > 0 else ""
        if LEVELS.index(outcome.level) >= LEVELS.index(fail_on):
            return _case(home, name, "failure", found[0].rule if found else "finding", text)
        return _case(home, name, "system-out", "", text)
    if outcome.outcome == "pass":
        return _case(home, name)
    # A rule that failed itself is a case of its own, above.
    words = outcome.outcome.replace("_", " ")
    return _case(home, name, "skipped", outcome.outcome, f"{words}: {outcome.reason}" if outcome.reason else words)


def _told(found: Finding) -> str:
    return f"{found.file}:{found.line} {found.rule}: expected {found.expected}, found {found.actual}; fix: {found.fix}"


def _case(home: str, name: str, tag: str = "", kind: str = "", text: str = "") -> ET.Element:
    case = ET.Element("testcase", classname=_clean(home), name=_clean(name), time="0")
    if tag == "system-out":
        ET.SubElement(case, tag).text = _clean(text)
    elif tag:
        clean = _clean(text)
        ET.SubElement(case, tag, type=_clean(kind), message=clean.split("\n")[0]).text = clean
    return case


def _clean(text: str) -> str:
    """Text without what XML cannot carry."""
    return _NOT_XML.sub("\ufffd", text)
