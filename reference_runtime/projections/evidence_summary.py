"""`evidence_summary` (19.13): what can be shown about the session's work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit

VIEWS = {
    "trace": lambda record: record.id,
    "evidence": lambda record: record.data if record.data.get("told") else None,
    "audit": lambda record: record.data,
}


def build(unit: Unit, session: str, thread: str | None = None) -> dict[str, Any]:
    told = [one for one in unit.find("evidence", session_id=session) if one.data.get("told")]
    return {
        "trace_ids": [one.id.partition("|")[2] for one in unit.find("trace", session_id=session)],
        "evidence": [copied("evidence", {"evidence_id": one.id, **one.data}) for one in told],
        "verification_outcomes": list(_each(told, "verification_outcomes")),
        "replay_refs": [one.data["replay_ref"] for one in told if "replay_ref" in one.data],
        "review_refs": [one.data["review_ref"] for one in told if "review_ref" in one.data],
        "audit_notes": [note for one in unit.find("audit", session_id=session) for note in one.data["notes"]],
        "known_gaps": list(_each(told, "known_gaps")),
    }


def _each(records: list[Record], name: str) -> Iterator[Any]:
    for record in records:
        if isinstance(record.data.get(name), list):
            yield from record.data[name]
