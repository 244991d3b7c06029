"""`channel_summary` (19.18): remote peers and how to take them up again."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import entries


def _channel(record: Record) -> Any:
    return entries.entry("channel", record, channel_id=record.id) if record.known else None


VIEWS = {
    "channel": _channel,
    "bridge": lambda record: record.data,
    "peer_task": lambda record: record.data or None,
}


def build(unit: Unit, session: str, thread: str | None = None) -> dict[str, Any]:
    channels = [one for one in unit.find("channel", session_id=session) if one.known]
    return {
        "channels": [_whole(unit, one) for one in channels],
        "last_acknowledged_sequence": _lowest(channels),
        "permission_bridges": [_bridge(one) for one in unit.find("bridge", session_id=session)],
        "peer_tasks": [_peer_task(one) for one in unit.find("peer_task", session_id=session) if one.data],
    }


def _whole(unit: Unit, record: Record) -> dict[str, Any]:
    bridges = [_bridge(one) for one in unit.find("bridge", channel_id=record.id)]
    peers = [_peer_task(one) for one in unit.find("peer_task", channel_id=record.id) if one.data]
    return entries.entry("channel", record, channel_id=record.id, permission_bridges=bridges, peer_tasks=peers)


def _bridge(record: Record) -> dict[str, Any]:
    return copied("permission_bridge", record.data)


def _peer_task(record: Record) -> dict[str, Any]:
    return copied("peer_task", {"peer_task_id": record.id, **record.data})


def _lowest(channels: list[Record]) -> Any:
    connected = [one.data.get("last_acknowledged_sequence") for one in channels if one.state == "connected"]
    if not connected:
        return {"honest": "not_applicable", "reason": "No peer is connected."}
    if None in connected:
        return {"honest": "unknown", "reason": "A connected peer has confirmed nothing."}
    return min(connected)
