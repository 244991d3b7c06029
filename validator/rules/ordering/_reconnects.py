"""What the ordering rules remember about subscribers that come back and about what they have acknowledged."""

from __future__ import annotations

from collections.abc import Iterator

from validator.protocol.formats import instant
from validator.protocol.honest import known
from validator.records import dataclass
from validator.replay.readmodels.words import word
from validator.replay.step import Step
from validator.rules.ordering._streams import SILENT_RETURN, is_marker, payload_of, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SNAPSHOTS = {"snapshot.updated", "snapshot.repaired"}
RESUMED = "channel.resumed"
"""The event that tells that a subscriber has come back."""
TELLING = frozenset({RESUMED, "channel.disconnected"})
"""Events that tell what a channel has acknowledged."""


class Telling:
    """What lines tell of what subscribers have acknowledged; an answer names no channel, its question does."""

    def __init__(self, world: Any):
        self._world = world
        self._channels: dict[str, str] = {}

    def of(self, step: Step) -> Iterator[tuple[tuple[str, str], str | None, str, int]]:
        """Subscriber, stream, place and sequence of everything that a line tells."""
        line = step.line
        if step.kind == "event" and step.type in TELLING:
            value = whole(payload_of(self._world, line).get("last_acknowledged_sequence"))
            channel = step.scope.get("channel_id")
            if value is not None and channel:
                stream = step.place.stream if step.place else None
                yield ("channel", channel), stream, "/payload/last_acknowledged_sequence", value
        elif step.kind == "reconnect":
            value, channel = whole(line.get("last_acknowledged_sequence")), line.get("channel_id")
            stream = word(line, "stream") or self._stream(channel)
            subscriber = ("channel", channel) if isinstance(channel, str) else ("stream", stream)
            if value is not None and isinstance(subscriber[1], str):
                yield subscriber, stream, "/last_acknowledged_sequence", value
        elif step.kind == "command" and line.get("command") == "ack_events":
            request = line.get("request")
            if isinstance(request, dict) and isinstance(request.get("channel_id"), str):
                self._channels[str(line.get("command_id"))] = request["channel_id"]
        elif step.kind == "result" and line.get("command") == "ack_events":
            result, channel = line.get("result"), self._channels.pop(str(line.get("command_id")), None)
            value = whole(result.get("last_acknowledged_sequence")) if isinstance(result, dict) else None
            if value is not None and channel:
                yield ("channel", channel), self._stream(channel), "/result/last_acknowledged_sequence", value

    def _stream(self, channel: Any) -> str | None:
        subject = self._world.subjects("channel").get(channel) if isinstance(channel, str) else None
        return subject.scope.get("session_id") if subject else None


@dataclass(slots=True)
class Return:
    """A subscriber came back to a stream, and no ordinary event has followed yet."""

    line: int
    acknowledged: int | None
    impossible: int | None = None
    """The line that shows that events cannot be replayed: it says so, or it leaves a gap."""
    marked: bool = False
    snapshot: int | None = None
    replayed: int | None = None
    """The line of the first event that was sent again."""


class Reconnects:
    """Subscribers that have come back, by stream."""

    def __init__(self, world: Any):
        self._world = world
        self.open: dict[str, Return] = {}
        self.ended: Return | None = None
        """The return that this step, an ordinary event, puts an end to."""
        self.owned: set[int] = set()
        """Events after a gap that a return has to answer for."""
        self._telling = Telling(world)
        self.confirmed: dict[str, tuple[int, int]] = {}
        """The highest sequence that each channel has acknowledged, and the line that told it."""
        self._asked: dict[str, tuple[tuple[int, ...], int]] = {}
        self.answer: tuple[tuple[int, ...], int, int] | None = None
        """What a question rests on, the first sequence to replay, and the one that this result promises."""

    def apply(self, step: Step) -> None:
        self.ended = self.answer = None
        if step.kind == "event":
            self._event(step)
        elif step.kind == "reconnect":
            stream = self.stream_of(step)
            if stream:
                self.open[stream] = Return(step.number, whole(step.line.get("last_acknowledged_sequence")))
        elif step.kind == "snapshot":
            for stream in self._meant(step):
                self.open[stream].snapshot = step.number
        elif step.kind in {"command", "result"} and step.line.get("command") == "reconnect_channel":
            self._command(step)
        for (kind, name), _, _, value in self._telling.of(step):
            if kind == "channel" and value > self.confirmed.get(name, (-1, 0))[0]:
                self.confirmed[name] = (value, step.number)

    def stream_of(self, step: Step) -> str | None:
        """The stream that an event counts in, or that a record is about."""
        if step.kind == "event":
            return step.place.stream if step.place else self._world.order.stream(step.line)
        if isinstance(step.line.get("stream"), str):
            return step.line["stream"]
        if step.kind == "snapshot":
            named = self._world.protocol.lens.get(step.line, "record.session_id")
            return named if isinstance(named, str) else None
        named = step.line.get("channel_id")
        channel = self._world.subjects("channel").get(named) if isinstance(named, str) else None
        return channel.scope.get("session_id") if channel else None

    def replays(self, step: Step) -> Return | None:
        """The return after which this event is the first to be sent again."""
        waiting = self.open.get(self.stream_of(step) or "")
        if waiting is None:
            return None
        if waiting.replayed is None:
            waiting.replayed = step.number
        return waiting if waiting.replayed == step.number else None

    def _meant(self, step: Step) -> list[str]:
        stream = self.stream_of(step)
        return [name for name in self.open if stream is None or name == stream]

    def _event(self, step: Step) -> None:
        if not self.open and step.type != RESUMED:
            return
        stream = self.stream_of(step) or ""
        if step.type == RESUMED:
            payload = payload_of(self._world, step.line)
            acknowledged = whole(payload.get("last_acknowledged_sequence"))
            waiting = self.open.setdefault(stream, Return(step.number, acknowledged))
            if waiting.acknowledged is None:
                waiting.acknowledged = acknowledged
            if payload.get("replay_possible") is False:
                waiting.impossible = step.number
        waiting = self.open.get(stream)
        if waiting is None:
            return
        if step.place and step.place.verdict == "gap":
            waiting.impossible = step.number
        if step.type in SNAPSHOTS:
            waiting.snapshot = step.number
            waiting.marked = waiting.marked or is_marker(self._world, step)
        elif step.type not in SILENT_RETURN:
            self.ended = self.open.pop(stream)
            if self._world.protocol.order["gaps"] == "repair_marker" and not self.ended.marked:
                self.owned.add(self.ended.impossible or 0)

    def _command(self, step: Step) -> None:
        name = str(step.line.get("command_id"))
        inner = step.line.get("request" if step.kind == "command" else "result")
        inner = inner if isinstance(inner, dict) else {}
        if step.kind == "command":
            acknowledged = whole(inner.get("last_acknowledged_sequence"))
            if acknowledged is not None:
                self._asked[name] = self._wanted(step, inner.get("channel_id"), acknowledged)
            return
        if isinstance(known(inner.get("snapshot")), dict):
            for waiting in self.open.values():
                waiting.snapshot = step.number
        if name in self._asked:
            lines, acknowledged = self._asked.pop(name)
            promised = whole(inner.get("next_sequence"))
            if promised is not None and inner.get("replay_possible") is not False:
                self.answer = (lines, acknowledged + 1, promised)

    def _wanted(self, step: Step, channel: Any, acknowledged: int) -> tuple[tuple[int, ...], int]:
        """What a peer that asks to come back has acknowledged, whatever it says now: that never goes down (ORD-29)."""
        before, line = self.confirmed.get(channel, (-1, 0)) if isinstance(channel, str) else (-1, 0)
        return ((line, step.number), before) if before > acknowledged else ((step.number,), acknowledged)


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement about what a subscriber has acknowledged, beside the one before it."""

    subscriber: tuple[str, str]
    pointer: str
    value: int
    previous: int | None
    previous_line: int | None
    sent: int | None
    sent_line: int | None


class Acknowledgements:
    """The last acknowledged sequence of every channel and subscriber."""

    hears = ("channel.*", "record:reconnect", "record:command", "record:result")
    forgets = ("_last",)

    def __init__(self, world: Any):
        self._world = world
        self._last: dict[tuple[str, str], tuple[int, int, Any]] = {}
        """What was acknowledged last, where, and the time of it where a subscriber said so that came back."""
        self._telling = Telling(world)
        self.claims: list[Claim] = []

    def apply(self, step: Step) -> None:
        self.claims = []
        for subscriber, stream, pointer, value in self._telling.of(step):
            previous, line, returned = self._last.get(subscriber, (None, None, None))
            if returned is not None and _is_older(step, returned):
                # Who came back hears afterwards of what went before; what was acknowledged then may be less than now.
                continue
            sent, sent_line = self._world.order.last(stream or "")
            self.claims.append(Claim(subscriber, pointer, value, previous, line, sent, sent_line))
            if previous is None or value > previous:
                returned = step.line.get("timestamp", "") if step.kind == "reconnect" else None
                self._last[subscriber] = (value, step.number, returned)


def _is_older(step: Step, returned: Any) -> bool:
    """True for an event that tells of what was before a return: the loss itself, or whatever has an earlier time."""
    if step.kind != "event":
        return False
    told, came = instant(step.line.get("timestamp")), instant(returned)
    return step.type == "channel.disconnected" or (told is not None and came is not None and told < came)
