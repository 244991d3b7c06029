"""The audit export: one run as a document, as lines, and as lines in Splunk's envelope.

All three hold the same events, unchanged and in the order of seq (RA-126).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from reference_runtime.lifecycles.runagents.history import History, Line, kind_of, told
from reference_runtime.stamping import read

SOURCE, SOURCE_TYPE = "runagents", "runagents:run_event"


def document(history: History, exported_at: str) -> dict[str, Any]:
    """Everything about one run in one JSON document (RA-120)."""
    return {
        "run": bare(history.runs[-1]),
        "actions": _newest(history.actions, "action_id"),
        "events": history.events,
        "approval_requests": _newest(history.requests, "id"),
        "timeline": [_sentence(event) for event in history.events],
        "exported_at": exported_at,
    }


def lines(history: History) -> Iterator[Line]:
    """One event per line, and the run record where its status holds: at the end (RA-122)."""
    yield from history.events
    yield history.runs[-1]


def hec(event: Line, host: str = "reference-runtime") -> dict[str, Any]:
    """An event in Splunk's envelope; the fields repeat what one searches by (RA-123)."""
    fields = {"event_id": event["event_id"], "run_id": event["run_id"], "type": event["type"]}
    if "action_id" in told(event):
        fields["action_id"] = told(event)["action_id"]
    return {
        "time": read(event["timestamp"]).timestamp(),
        "host": host,
        "source": SOURCE,
        "sourcetype": SOURCE_TYPE,
        "event": event,
        "fields": fields,
    }


def ndjson(documents: Iterator[dict[str, Any]]) -> str:
    """One object per line."""
    return "".join(json.dumps(one, separators=(",", ":"), ensure_ascii=False) + "\n" for one in documents)


def bare(record: Line) -> dict[str, Any]:
    """A run record without the mark that makes it a line of a capture."""
    return {name: value for name, value in record.items() if name != "record"}


def _newest(records: list[Line], key: str) -> list[Line]:
    return list({record[key]: record for record in records}.values())


def _sentence(event: Line) -> dict[str, Any]:
    entry = {name: event[name] for name in ("seq", "type", "actor", "timestamp") if name in event}
    said = told(event)
    about = [said.get("tool_id"), said.get("capability"), said.get("approver_id"), said.get("error")]
    detail = ", ".join(str(part) for part in about if isinstance(part, str))
    words = kind_of(event).replace("_", " ").capitalize()
    return entry | {"summary": f"{words}: {detail}." if detail else f"{words}."}
