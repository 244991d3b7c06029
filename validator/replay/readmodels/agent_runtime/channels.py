"""Remote peers and how to take them up again."""

from __future__ import annotations

import functools
from typing import Any

from validator.records import dataclass, field
from validator.replay.readmodels.agent_runtime.facts import Collector, Fact, Facts
from validator.replay.readmodels.agent_runtime.records import Later, as_record, honest, present
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, SESSION, Scope, Scopes
from validator.replay.readmodels.agent_runtime.turns import Turns

CONNECTED = ("transport", "peer_role", "native_peer", "account_ref", "capabilities", "native_protocol")
BRIDGES = {"channel.permission_forwarded": "forwarded", "channel.permission_returned": "returned"}


@dataclass(slots=True)
class Channel:
    """What events told of one channel."""

    said: dict[str, Any] = field(default_factory=dict)
    heard: Any = None
    lost: dict[str, Any] = field(default_factory=dict)
    acknowledged: int | None = None
    bridges: dict[str, None] = field(default_factory=dict)
    peer_tasks: dict[str, None] = field(default_factory=dict)
    threads: set[str] = field(default_factory=set)


class Channels(Collector):
    """Channels of a session, with the decisions and tasks that cross them."""

    listens = {  # noqa: RUF012 - a table of the class, never changed
        "channel.connected": "_connected",
        "channel.resumed": "_resumed",
        "channel.disconnected": "_disconnected",
        **dict.fromkeys(BRIDGES, "_bridged"),
        "channel.peer_task.*": "_linked",
    }
    carries = ("channel_id",)

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.channels: dict[str, Channel] = {}
        self.bridges: dict[str, dict[str, Any]] = {}
        self.peer_tasks: dict[str, dict[str, Any]] = {}

    def _channel(self, fact: Fact) -> Channel:
        return self.channels.setdefault(fact.ids.get("channel_id", ""), Channel())

    def meet(self, fact: Fact) -> None:
        channel = self._channel(fact)
        channel.heard = fact.time
        if "thread_id" in fact.ids:
            channel.threads.add(fact.ids["thread_id"])

    def _tell(self, fact: Fact, *names: str) -> None:
        for name in names:
            if (value := fact.told(name, "channel")) is not None:
                self._channel(fact).said[name] = self.facts.records.field("channel", name, value)

    def _connected(self, fact: Fact) -> None:
        self._tell(fact, *CONNECTED, "resume_token_ref")

    def _resumed(self, fact: Fact) -> None:
        self._tell(fact, "resume_token_ref")
        if (cursor := fact.payload.get("cursor")) is not None:
            self._channel(fact).said["resume_cursor"] = cursor
        self._acknowledged(fact)

    def _disconnected(self, fact: Fact) -> None:
        seen = fact.told("last_seen_at", "channel")
        lost = {"last_seen_at": seen if seen is not None else fact.time}
        self._channel(fact).lost = lost | present(disconnect_reason=fact.payload.get("reason"))
        self._acknowledged(fact)

    def _acknowledged(self, fact: Fact) -> None:
        self.acknowledge(fact.ids.get("channel_id", ""), fact.told("last_acknowledged_sequence", "channel"))

    def acknowledge(self, key: str, sequence: Any) -> None:
        """A peer confirmed a sequence, in an event or in an answer to `ack_events`."""
        channel = self.channels.setdefault(key, Channel())
        if isinstance(sequence, int):
            known = channel.acknowledged
            channel.acknowledged = sequence if known is None else max(known, sequence)

    def _bridged(self, fact: Fact) -> None:
        key = fact.payload.get("bridge_id")
        if not isinstance(key, str):
            return
        entry = self.bridges.setdefault(key, {})
        fields = [
            name for name in self.facts.records.fields("permission_bridge") if name not in {"action_id", "status"}
        ]
        entry.update(present(**{name: fact.payload.get(name) for name in fields}), status=BRIDGES[fact.type])
        if "action_id" in fact.ids:
            entry.setdefault("action_id", fact.ids["action_id"])
        self._channel(fact).bridges[key] = None

    def _linked(self, fact: Fact) -> None:
        told = self.facts.records.copy("peer_task", as_record(fact.payload.get("peer_task")))
        key = told.get("peer_task_id")
        if isinstance(key, str):
            entry = self.peer_tasks.setdefault(key, {})
            entry.update({"updated_at": fact.time, **told})
            self._channel(fact).peer_tasks[key] = None
            self.facts.mentions.add("peer_task_id", key, fact.index, fact.origin)

    def record(self, key: str) -> dict[str, Any]:
        """The entry of a channel."""
        channel = self.channels[key]
        bridges = [dict(self.bridges[bridge]) for bridge in self.bridges if bridge in channel.bridges]
        return {**self.head(key), "permission_bridges": bridges, "peer_tasks": self._remote(channel.peer_tasks)}

    def head(self, key: str) -> dict[str, Any]:
        """The entry of a channel without what crosses it."""
        channel = self.channels[key]
        connected = self.facts.state("channel", key) == "connected"
        return present(
            channel_id=key,
            status=self.facts.state("channel", key),
            last_acknowledged_sequence=channel.acknowledged,
            **({"last_seen_at": channel.heard} if connected else channel.lost),
            **channel.said,
        )

    def _remote(self, keys: Any) -> list[dict[str, Any]]:
        """Remote tasks, in order."""
        return [dict(self.peer_tasks[key]) for key in self.facts.mentions.order("peer_task_id", keys, SESSION)]

    def ids(self) -> list[str]:
        return self.facts.known("channel", "channel_id", SESSION)

    def of_thread(self, thread: str) -> list[str]:
        """Channels whose events carry a thread's id, or that a turn of it names as its source."""
        turns = self.facts.of(Turns)
        mine = self.facts.known("turn", "turn_id", Scope(thread))
        named = {turns.turns[key].channel for key in mine if key in turns.turns}
        known = [key for key in self.ids() if key in named or thread in self.channels[key].threads]
        return self.facts.mentions.order("channel_id", known, Scope(thread))

    def threads(self, key: str) -> Scopes:
        """The threads that list a channel."""
        if key not in self.facts.introduced.get("channel", {}):
            return NOWHERE
        turns = self.facts.of(Turns).from_channel.get(key, ())
        named = (self.facts.scopes("turn", "turn_id", turn) - {SESSION} for turn in turns)
        return frozenset(map(Scope, self.channels[key].threads)).union(*named)

    def crossing(self, kind: str, key: str) -> tuple[str, ...]:
        """The channels that bridges or remote tasks cross."""
        return tuple(name for name, channel in self.channels.items() if key in getattr(channel, kind))

    def build(self, scope: Scope) -> dict[str, Any] | None:
        """The `channel_summary`."""
        known = self.ids()
        if not known:
            return None
        entries = functools.cache(lambda: [self.record(key) for key in known])
        return {
            "channels": Later(entries),
            "last_acknowledged_sequence": Later(
                lambda: _lowest([entry for entry in entries() if entry["status"] == "connected"])
            ),
            "permission_bridges": Later(lambda: [dict(entry) for entry in self.bridges.values()]),
            "peer_tasks": Later(lambda: self._remote(self.peer_tasks)),
        }


def _lowest(connected: list[dict[str, Any]]) -> Any:
    if not connected:
        return honest("not_applicable", "no channel is connected")
    confirmed = [entry.get("last_acknowledged_sequence") for entry in connected]
    if any(sequence is None for sequence in confirmed):
        return honest("unknown", "a connected channel confirmed nothing")
    return min(confirmed)
