"""Lines that are written alike in all dialects."""

from __future__ import annotations

from typing import Any

Event = dict[str, Any]
CREATED = "2026-03-02T14:00:00.000Z"


def header(protocol: str) -> Event:
    """The first line of a complete capture."""
    return {"record": "header", "capture": "1", "protocol": protocol, "version": "1", "completeness": "complete"}


def snapshot(model: str, document: Event) -> Event:
    """A line that serves a document."""
    return {"record": "snapshot", "model": model, "snapshot": document}


def unknown(reason: str) -> Event:
    """The value of a field that nobody knows."""
    return {"honest": "unknown", "reason": reason}
