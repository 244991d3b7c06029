"""How far a stream has counted, and what a hole in it leaves in doubt."""

from __future__ import annotations

from reference_runtime.contract import protocol
from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, told
from reference_runtime.facts.unit import Unit


def place(unit: Unit, event: Event) -> None:
    """Counts an event; a step of more than one leaves open work in doubt (HON-19)."""
    sequence, session = event.get("sequence"), event.get("session_id")
    if not isinstance(session, str):
        return
    stream = unit.edit("stream", session)
    last = stream.data.get("sequence")
    if isinstance(sequence, int):
        if last is None:
            stream.data["late"] = sequence > 1
        elif sequence > last + 1:
            stream.data["gap"] = True
            _doubt(unit, session)
        stream.data["sequence"] = sequence
    stream.data["at"] = event["timestamp"]


def _doubt(unit: Unit, session: str) -> None:
    for name in (machine.name for machine in protocol().machines.values() if machine.work):
        for record in unit.find(name, is_open=True, session_id=session):
            unit.edit(name, record.id).data["doubted"] = True


def repaired(unit: Unit, event: Event, moves: list[Move]) -> None:
    """A repair marker closes a gap, and may name what it could not mend."""
    said = told(event)
    if event["type"] == "snapshot.updated" and said.get("recovery_mode") is not True:
        return
    stream = unit.edit("stream", event["session_id"])
    if stream.data.pop("gap", None) or said.get("stale_facts") or said.get("unavailable_facts"):
        stream.data["degraded"] = True


def reconstructed(unit: Unit, event: Event, moves: list[Move]) -> None:
    """A reconstruction that is degraded leaves its mark on everything that rests on it."""
    if event["type"] == "history.reconstructed" and told(event).get("degraded") is True:
        unit.edit("stream", event["session_id"]).data["degraded"] = True


def freshness(unit: Unit, session: str) -> dict[str, str]:
    """How far the read models of a session may be trusted (19.3)."""
    stream = unit.get("stream", session)
    if stream is None or not stream.data.keys() & {"gap", "degraded", "late"}:
        return {"freshness": "current"}
    if stream.data.get("gap"):
        return {"freshness": "stale", "freshness_reason": "Events are missing and nothing stands in for them."}
    if stream.data.get("degraded") or stream.data.get("late"):
        return {"freshness": "degraded", "freshness_reason": "Not everything could be recovered."}
    return {"freshness": "current"}
