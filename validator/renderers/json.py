"""A report as JSON; its shape is published in `schemas/report/1`. The same report gives the same bytes."""

from __future__ import annotations

import json
from typing import Any

from validator.renderers.look import PLAIN, Look
from validator.report import Outcome, Report
from validator.rules import Finding
from validator.run import Accepted, Note, Run


def render(run: Run, look: Look = PLAIN) -> str:
    document = {
        "report": "1",
        "partial": run.partial,
        "exit_code": run.exit_code,
        "captures": [as_data(report) for report in run.reports],
        "accepted": [accepted_as_data(entry) for entry in run.accepted],
        "notes": [note_as_data(note) for note in run.notes],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def note_as_data(note: Note) -> dict[str, Any]:
    return {"code": note.code, "message": note.message, "file": note.file, "line": note.line, "fails": note.fails}


def accepted_as_data(entry: Accepted) -> dict[str, Any]:
    return {"by": entry.by, "reason": entry.reason, "finding": finding_as_data(entry.finding)}


def as_data(report: Report) -> dict[str, Any]:
    """One capture's report as plain data."""
    return {
        "file": report.file,
        "protocol": report.protocol,
        "profile": report.profile,
        "profile_digest": report.profile_digest,
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "fail_on": report.fail_on,
        "lines": report.lines,
        "events": report.events,
        "incomplete": list(report.incomplete),
        "totals": {"requirements": len(report.requirements), **report.totals()},
        "findings": [finding_as_data(found) for found in report.findings],
        "finding_counts": report.counts,
        "requirements": [_outcome(entry) for entry in report.requirements],
        "errors": [{"rule": crash.rule, "line": crash.line, "error": crash.error} for crash in report.crashes],
    }


def finding_as_data(found: Finding) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "requirement": found.clause,
        "level": found.level,
        "file": found.file,
        "line": found.line,
        "byte_offset": found.offset,
        "pointer": found.pointer,
        "sequence": found.sequence,
        "event_id": found.event_id,
        "event_type": found.event_type,
        "entity": {"kind": found.entity[0], "id": found.entity[1]} if found.entity else None,
        "expected": found.expected,
        "actual": found.actual,
        "witness": list(found.witness),
        "state_before": found.state,
        "fix": found.fix,
        "fingerprint": found.fingerprint,
        "cause_line": found.cause,
    }


def _outcome(entry: Outcome) -> dict[str, Any]:
    return {
        "id": entry.requirement,
        "level": entry.level,
        "outcome": entry.outcome,
        "looks": entry.looks,
        "findings": entry.findings,
        "judged_by": list(entry.rules),
        "reason": entry.reason,
    }
