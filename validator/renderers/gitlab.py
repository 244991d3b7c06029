"""GitLab's code quality report: a list of issues, each with a fingerprint of its own."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from validator.renderers.look import PLAIN, Look
from validator.rules import Finding
from validator.run import Note, Run

_SEVERITIES = {"MUST": "critical", "SHOULD": "minor", "MAY": "info"}


def render(run: Run, look: Look = PLAIN) -> str:
    times: dict[tuple[str, str], int] = {}
    issues = []
    for found in run.findings:
        key = (found.file, found.fingerprint)
        times[key] = times.get(key, 0) + 1
        issues.append(_issue(found, times[key]))
    issues += [_note(note) for note in run.notes if note.fails]
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def _issue(found: Finding, nth: int) -> dict[str, Any]:
    # GitLab drops an issue whose fingerprint it has seen, so the file and the number of the repetition go in.
    return {
        "description": f"{found.clause}: expected {found.expected}, found {found.actual}",
        "check_name": found.rule,
        "fingerprint": _digest(found.file, found.fingerprint, str(nth)),
        "severity": _SEVERITIES[found.level],
        "location": {"path": found.file, "lines": {"begin": found.line}},
    }


def _note(note: Note) -> dict[str, Any]:
    return {
        "description": note.message,
        "check_name": note.code,
        "fingerprint": _digest(note.file, note.code, note.message),
        "severity": "critical",
        "location": {"path": note.file, "lines": {"begin": note.line or 1}},
    }


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
