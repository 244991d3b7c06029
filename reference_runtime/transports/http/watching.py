"""Who watches a session, and from where: the part of a subscription that reads and writes facts.

A plain observer leaves no trace; it says what it saw last, and the log goes on from there. A peer that names a channel
is a subject of the contract: it is told as connected, taken up again by `reconnect_channel`, and told as gone. How far
it may fall behind is the runtime's to say; where it fell too far, `snapshot.repaired` stands in for what it misses.

Everything here runs at the desk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference_runtime.domain.state import State
from reference_runtime.errors import CommandRejected, Unavailable
from reference_runtime.facts.record import Record
from reference_runtime.service import Runtime

PEER = {
    "transport": "sse",
    "peer_role": "client",
    "capabilities": ["events"],
    "native_peer": {"honest": "not_applicable", "reason": "The peer has no protocol of its own."},
}


@dataclass(slots=True)
class Watch:
    """One subscription: what it watches, and the last sequence that was sent to it."""

    session: str
    cursor: int
    channel: str | None = None
    opening: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Read models that are given before any event."""


def begin(runtime: Runtime, session: str, cursor: int | None, channel: str | None) -> Watch:
    """Opens a subscription; without a cursor it goes on after the snapshot that it begins with."""
    state = runtime.state()
    state.need("session", session)
    if cursor is not None and cursor > _last(state, session):
        raise CommandRejected("never_emitted", "The stream has not reached that sequence.", category="invalid_request")
    watch = Watch(session, -1 if cursor is None else cursor, channel)
    if channel is not None:
        _connect(runtime, watch, state.get("channel", channel))
    document = runtime.snapshot("session_snapshot", session)
    watch.opening.append(("session_snapshot", document))
    if watch.cursor < 0:
        watch.cursor = document["as_of_sequence"]
    return watch


def page(runtime: Runtime, watch: Watch, limit: int) -> list[dict[str, Any]]:
    """The next events for a subscription, or the marker that stands in for too many of them."""
    missed = _last(runtime.state(), watch.session) - watch.cursor
    if watch.channel is not None and missed > runtime.settings.replay_limit:
        _resume(runtime, watch, 0)
    return runtime.store.tail(watch.session, watch.cursor, limit)


def finish(runtime: Runtime, watch: Watch, reason: str) -> None:
    """Tells that the peer behind a channel is gone; that completes nothing (CHAN-7)."""
    record = runtime.state().get("channel", watch.channel)
    if record and record.state == "connected":
        said = {"reason": reason, "last_acknowledged_sequence": record.data.get("last_acknowledged_sequence")}
        runtime.fact("channel.disconnected", {"session_id": watch.session, "channel_id": watch.channel}, said)


def _last(state: State, session: str) -> int:
    return state.get("stream", session).data["sequence"]


def _connect(runtime: Runtime, watch: Watch, record: Record | None) -> None:
    if record is None or not record.known:
        runtime.fact("channel.connected", {"session_id": watch.session, "channel_id": watch.channel}, dict(PEER))
        return
    if record.session != watch.session:
        raise CommandRejected("wrong_owner", "The channel belongs to another session.", category="not_found")
    confirmed = max(watch.cursor, record.data.get("last_acknowledged_sequence", 0))
    runtime.capture.reconnect(record.id, confirmed, runtime.state().now)
    _resume(runtime, watch, confirmed)


def _resume(runtime: Runtime, watch: Watch, confirmed: int) -> None:
    """Lets the runtime say where the stream goes on for a channel."""
    request = {"channel_id": watch.channel, "last_acknowledged_sequence": confirmed}
    answer = runtime.handle("reconnect_channel", request)
    if answer["outcome"] != "accepted":
        error = answer["error"]
        raise Unavailable(error["code"], error["message"], category=error["category"])
    # Where replay is impossible, the events that say so are what the peer gets first (ORD-26).
    said = 0 if answer["replay_possible"] else len(answer["event_ids"])
    watch.cursor = answer["next_sequence"] - 1 - said
    watch.opening.append(("channel_summary", answer["snapshot"]))
