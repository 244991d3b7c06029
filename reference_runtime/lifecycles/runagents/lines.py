"""Drafts and the lines they become: events, run records, and stored records of actions and requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference_runtime.facts.record import Record
from reference_runtime.facts.tables import Move
from reference_runtime.lifecycles.book import Line, Page
from reference_runtime.redaction import clean

_KEYS = {"blocked_action": "action_id", "approval_request": "id"}


@dataclass(frozen=True, slots=True)
class Event:
    """An entry of a run's log that was decided and not yet stamped."""

    run_id: str
    type: str
    actor: str
    data: dict[str, Any] = field(default_factory=dict)
    payload_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What changes in a stored record, `run`, `blocked_action` or `approval_request`; None takes a field away."""

    model: str
    id: str
    fields: dict[str, Any]


def stamp(page: Page, draft: Event | Change) -> Line:
    """The line that a draft becomes: with its id, its time and its place, and without paths of machines."""
    return _event(page, draft) if isinstance(draft, Event) else _record(page, draft)


def _event(page: Page, draft: Event) -> Line:
    seq = page.sequence(draft.run_id) + 1
    event = {"event_id": f"evt_{draft.run_id}_{seq:06d}", "run_id": draft.run_id, "seq": seq}
    event |= {"type": draft.type, "timestamp": page.now(), "actor": draft.actor}
    if draft.payload_hash is not None:
        event["payload_hash"] = draft.payload_hash
    data = {name: value for name, value in draft.data.items() if value is not None}
    return clean(event | ({"data": data} if data else {}), ("data",))


def _record(page: Page, draft: Change) -> Line:
    now = page.now()
    known = stored(page.get(draft.model, draft.id)) or {_KEYS.get(draft.model, "id"): draft.id, "created_at": now}
    fields = known | draft.fields | {"updated_at": now}
    fields = {name: value for name, value in fields.items() if value is not None}
    if draft.model == "run":
        return clean({"record": "run", **fields}, ("initial_message", "invoke_url", "namespace"))
    return {"record": "snapshot", "model": draft.model, "snapshot": clean(fields, ("reason", "capability", "tool_url"))}


def learn(page: Page, line: Line, moves: list[Move]) -> None:
    """Keeps each stored record as it was last told, and when a run ended."""
    if "record" in line:
        model = "run" if line["record"] == "run" else line["model"]
        record = line if model == "run" else line["snapshot"]
        subject = page.edit(model, record[_KEYS.get(model, "id")])
        subject.data["record"] = {name: value for name, value in record.items() if name != "record"}
        # Records count for the clock as well: their times never go back, also after a restart (RA-5).
        page.edit("stream", page.stream(line)).data["at"] = record["updated_at"]
    for move in moves:
        if move.machine.name == "run" and move.ended:
            move.record.data["ended_at"] = line.get("timestamp") or line.get("updated_at")


def stored(subject: Record | None) -> dict[str, Any] | None:
    """A stored record as it was last told, or None."""
    return subject.data.get("record") if subject else None
