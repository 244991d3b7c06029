"""`artifact_checkpoint_summary` (19.12): deliverables by reference, in the version last told."""

from __future__ import annotations

from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import entries


def _artifact(record: Record) -> Any:
    return None if record.data.get("deleted") else entries.artifact(record)


VIEWS = {"artifact": _artifact}


def build(unit: Unit, session: str, thread: str | None = None) -> dict[str, Any]:
    shown = [entry for one in unit.find("artifact", session_id=session) if (entry := _artifact(one))]
    counts = [entry.get("validation_issue_count") for entry in shown]
    counted = all(isinstance(count, int) for count in counts)
    unknown = {"honest": "unknown", "reason": "An artifact has not told its count."}
    return {
        "artifacts": shown,
        "validation_issue_count": sum(counts) if counted else unknown,
        "diff_refs": [entry["diff_ref"] for entry in shown if "diff_ref" in entry],
    }
