"""reconnect_channel, ack_events."""

from __future__ import annotations

from reference_runtime.domain.state import Decision, Request, State, about
from reference_runtime.errors import CommandRejected, NoOp
from reference_runtime.facts.channels import acknowledge
from reference_runtime.facts.record import Record
from reference_runtime.projections import snapshot


def _last(state: State, channel: Record) -> int:
    return state.get("stream", channel.session).data["sequence"]


def _confirmed(state: State, channel: Record, request: Request, name: str) -> int | None:
    """The sequence that a peer names, as a number or as a cursor; it was emitted (CTL-78)."""
    cursor = request.get("cursor")
    sequence = request.get(name, int(cursor) if cursor and cursor.isdecimal() else None)
    if sequence is not None and sequence > _last(state, channel):
        raise CommandRejected("never_emitted", "The stream has not reached that sequence.", category="invalid_request")
    return sequence


def reconnect_channel(state: State, request: Request) -> Decision:
    """Gives the state first and lets the stream go on after what was confirmed (CTL-51)."""
    channel = state.need("channel", request["channel_id"])
    confirmed = _confirmed(state, channel, request, "last_acknowledged_sequence")
    confirmed = max(confirmed or 0, channel.data.get("last_acknowledged_sequence", 0))
    missed = _last(state, channel) - confirmed
    possible = missed <= state.settings.replay_limit
    said = {"cursor": str(confirmed), "last_acknowledged_sequence": confirmed, "replay_possible": possible}
    yield about(channel, "channel.resumed", said)
    if not possible:
        last = _last(state, channel)
        lost = {"reason": "The peer missed more than is kept for it.", "as_of_sequence": last}
        facts = {"unavailable_facts": [f"events {confirmed + 1} to {last - 1} for the peer"]}
        facts |= {"gap_from": confirmed + 1, "gap_to": last - 1}
        yield about(channel, "snapshot.repaired", {"model": "channel_summary", **lost, **facts})
    following = confirmed + 1 if possible else _last(state, channel) + 1
    answer = {"channel_id": channel.id, "replay_possible": possible, "next_sequence": following}
    return {**answer, "snapshot": snapshot(state, "channel_summary", channel.session)}


def ack_events(state: State, request: Request) -> Decision:
    """Moves the confirmed sequence forward; no event tells it, the answer does (CTL-52)."""
    channel = state.need("channel", request["channel_id"])
    sequence = _confirmed(state, channel, request, "sequence")
    if sequence is None:
        raise CommandRejected("bad_cursor", "That cursor was never given out.", category="invalid_request")
    before = channel.data.get("last_acknowledged_sequence", -1)
    if sequence <= before:
        raise NoOp(last_acknowledged_sequence=before)
    acknowledge(state.edit("channel", channel.id).data, sequence)
    return {"last_acknowledged_sequence": sequence}
    yield  # a decision is a generator, also one that writes nothing
