"""SARIF 2.1.0: findings with line, byte offset and fingerprint, so that a platform tracks one across runs."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from validator import __version__, resources
from validator.protocol.clauses import load_clauses
from validator.renderers.headline import headline
from validator.renderers.look import PLAIN, Look
from validator.report import Report
from validator.rules import Finding
from validator.rules._catalog import load_rules
from validator.run import Note, Run

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}


def render(run: Run, look: Look = PLAIN) -> str:
    findings = [(found, None) for found in run.findings]
    findings += [(entry.finding, entry) for entry in run.accepted]
    names = sorted({found.rule for found, _ in findings})
    index = {name: number for number, name in enumerate(names)}
    times: dict[tuple[str, str], int] = {}
    results = []
    for found, entry in findings:
        key = (found.file, found.fingerprint)
        times[key] = times.get(key, 0) + 1
        result = _result(found, index[found.rule], times[key])
        if entry:
            result["suppressions"] = [{"kind": "external", "justification": f"{entry.by}: {entry.reason}"}]
        results.append(result)
    driver = {
        "name": "runtime-validate",
        "version": __version__,
        "semanticVersion": _semantic(__version__),
        "informationUri": "https://agent-runtime.example/",
        "rules": [_rule(name) for name in names],
    }
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "utf16CodeUnits",
                "artifacts": [_artifact(report) for report in run.reports],
                "invocations": [_invocation(run)],
                "results": results,
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _semantic(version: str) -> str:
    numbers, _, pre = version.partition(".dev")
    return f"{numbers}-dev.{pre}" if pre else numbers


def _rule(name: str) -> dict[str, Any]:
    rule = load_rules()[name]
    pascal = "".join(word.capitalize() for word in rule.slug.split("-"))
    return {
        "id": rule.id,
        "name": pascal,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": f"{rule.summary} {rule.doc['Why'].capitalize()}"},
        "help": {"text": f"{rule.fix}\n\nTrips: {rule.doc['Trips']}\n\nNear miss: {rule.doc['Near miss']}"},
    }


def _result(found: Finding, index: int, nth: int) -> dict[str, Any]:
    clause = load_clauses(resources.folder("spec")).get(found.clause)
    spec = f" {clause.id}: {clause.sentence}" if clause else ""
    return {
        "ruleId": found.rule,
        "ruleIndex": index,
        "level": _LEVELS[found.level],
        "message": {"text": f"Expected {found.expected}; found {found.actual}.{spec}"},
        "locations": [{"physicalLocation": _place(found.file, found.line, found.offset)}],
        "relatedLocations": [
            {"id": number, "message": {"text": "Proof."}, "physicalLocation": _place(found.file, line, None)}
            for number, line in enumerate(found.witness, start=1)
        ],
        "partialFingerprints": {
            "runtimeValidateFingerprint/v1": found.fingerprint,
            "primaryLocationLineHash": f"{found.fingerprint}:{nth}",
        },
        "properties": {
            "requirement": found.clause,
            "pointer": found.pointer,
            "eventId": found.event_id,
            "sequence": found.sequence,
            "fix": found.fix,
        },
    }


def _place(file: str, line: int, offset: int | None) -> dict[str, Any]:
    region = {"startLine": line, **({"byteOffset": offset} if offset is not None else {})}
    return {"artifactLocation": {"uri": uri(file)}, "region": region}


def uri(file: str) -> str:
    """A file name as a relative or a file reference."""
    path = PurePath(file).as_posix()
    return ("file://" if path.startswith("/") else "") + quote(path)


def _artifact(report: Report) -> dict[str, Any]:
    properties = {
        "protocol": report.protocol,
        "profile": report.profile,
        "profileDigest": report.profile_digest,
        "verdict": report.verdict,
        "requirements": report.totals(),
    }
    return {"location": {"uri": uri(report.file)}, "properties": properties}


def _invocation(run: Run) -> dict[str, Any]:
    told = []
    for report in run.reports:
        told += [_notification("crash", f"{c.rule} failed itself: {c.error}", report.file) for c in report.crashes]
        told += [_notification("incomplete", reason, report.file) for reason in report.incomplete]
    told += [_note(note) for note in run.notes]
    return {
        "executionSuccessful": run.exit_code not in {2, 130},
        "exitCode": run.exit_code,
        "exitCodeDescription": headline(run),
        "toolExecutionNotifications": told,
    }


def _note(note: Note) -> dict[str, Any]:
    return _notification(note.code, note.message, note.file, note.line, "error" if note.fails else "note")


def _notification(code: str, text: str, file: str, line: int | None = None, level: str = "warning") -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": uri(file)}}
    if line:
        place["region"] = {"startLine": line}
    return {
        "descriptor": {"id": code},
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }
