"""One JSON object per line: findings as they stand, then each capture, then the run.

Its shape is published in `schemas/report/1/line.schema.json`.
"""

from __future__ import annotations

import json
from typing import Any

from validator.renderers.json import accepted_as_data, as_data, finding_as_data, note_as_data
from validator.renderers.look import PLAIN, Look
from validator.rules import Finding
from validator.run import Run


def render(run: Run, look: Look = PLAIN) -> str:
    lines = []
    for report in run.reports:
        lines += [finding(found) for found in report.findings]
        summary = {key: value for key, value in as_data(report).items() if key not in {"findings", "requirements"}}
        lines.append(_line("capture", summary))
    lines += [_line("accepted", accepted_as_data(entry)) for entry in run.accepted]
    lines += [_line("note", note_as_data(note)) for note in run.notes]
    lines.append(_line("run", {"partial": run.partial, "exit_code": run.exit_code, "captures": len(run.reports)}))
    return "".join(lines)


def finding(found: Finding) -> str:
    """One finding as one line."""
    return _line("finding", finding_as_data(found))


def _line(kind: str, data: dict[str, Any]) -> str:
    return json.dumps({"kind": kind, **data}, ensure_ascii=False, separators=(",", ":")) + "\n"
