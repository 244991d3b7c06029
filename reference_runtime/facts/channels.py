"""Channels, the decisions that cross them, and tasks of peers."""

from __future__ import annotations

from reference_runtime.facts.tables import Move
from reference_runtime.facts.told import Event, add, keep, told
from reference_runtime.facts.unit import Unit

_PEER = ("transport", "peer_role", "native_peer", "account_ref", "capabilities", "native_protocol")


def channel(unit: Unit, event: Event, moves: list[Move]) -> None:
    record, said, kind = unit.edit("channel", event["channel_id"]), told(event, "channel"), event["type"]
    if kind == "channel.connected":
        keep(record, said, *_PEER, "resume_token_ref")
    elif kind == "channel.resumed":
        keep(record, said, "resume_token_ref", resume_cursor="cursor")
    elif kind == "channel.disconnected":
        record.data["disconnect_reason"] = said.get("reason")
        record.data["last_seen_at"] = said.get("last_seen_at", event["timestamp"])
    elif kind.startswith("channel.permission"):
        _bridge(unit, event)
    acknowledge(record.data, said.get("last_acknowledged_sequence"))


def acknowledge(data: dict, sequence: object) -> None:
    """The acknowledged sequence goes up and never down (ORD-29)."""
    if isinstance(sequence, int) and sequence > data.get("last_acknowledged_sequence", -1):
        data["last_acknowledged_sequence"] = sequence


def heard(unit: Unit, event: Event) -> None:
    """Whatever event carries a channel's id shows that the peer is there, while it is connected."""
    channel_id, thread_id = event.get("channel_id"), event.get("thread_id")
    if not isinstance(channel_id, str):
        return
    record = unit.edit("channel", channel_id)
    add(record, "threads", thread_id if isinstance(thread_id, str) else None)
    if record.state == "connected":
        record.data["last_seen_at"] = event["timestamp"]
        record.data.pop("disconnect_reason", None)


def _bridge(unit: Unit, event: Event) -> None:
    said = told(event)
    record = unit.edit("bridge", f"{event['channel_id']}|{said['bridge_id']}")
    record.session = event.get("session_id")
    record.tell("channel_id", event["channel_id"])
    if isinstance(event.get("action_id"), str):
        record.data.setdefault("action_id", event["action_id"])
    record.data["bridge_id"] = said["bridge_id"]
    names = ("requesting_peer", "target_kind", "target_id", "deciding_side", "channel_scoped")
    keep(record, said, *names, "response_source", "decision")
    record.data["status"] = "returned" if event["type"].endswith("returned") else "forwarded"


def peer_task(unit: Unit, event: Event, moves: list[Move]) -> None:
    mapping = told(event)["peer_task"]
    record = unit.edit("peer_task", mapping["peer_task_id"])
    record.session = event.get("session_id")
    record.tell("channel_id", event["channel_id"])
    keep(record, mapping, *mapping)
    record.data["updated_at"] = mapping.get("updated_at", event["timestamp"])
