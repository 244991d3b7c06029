"""The read models of the core protocol, rebuilt from the lines of a capture.

Each session has its facts: what its events told, kept by subject. A document is put together from them on demand, and
statuses are read from the fold, so nothing is computed twice. Only one thing cannot be told on demand: when a document
last differed from itself (`updated_at`). That is watched piece by piece: after every event only what the event touches
is compared with what it was, without its marks of doubt, and the documents that show it take the event's time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from validator.protocol.honest import known
from validator.replay.readmodels.agent_runtime.channels import Channels
from validator.replay.readmodels.agent_runtime.facts import Facts
from validator.replay.readmodels.agent_runtime.freshness import Freshness
from validator.replay.readmodels.agent_runtime.models import COLLECTORS, MODELS, limited
from validator.replay.readmodels.agent_runtime.records import UNWATCHED, Later, as_record, cloned, honest
from validator.replay.readmodels.agent_runtime.scope import SESSION, Scope
from validator.replay.readmodels.agent_runtime.subagents import Jobs
from validator.replay.readmodels.agent_runtime.tasks import Tasks
from validator.replay.readmodels.agent_runtime.tools import Catalogues
from validator.replay.readmodels.agent_runtime.watch import Watch
from validator.replay.step import Step

RECORDS = {"task": Tasks, "job": Jobs}
"""Records that can be asked for alone."""


class OnDemand(Mapping[str, Any]):
    """A document of which each field is worked out when somebody asks for it first."""

    def __init__(self, fields: dict[str, Any], within: Callable[[Callable[[], Any]], Any]):
        self._fields, self._within = fields, within

    def __getitem__(self, name: str) -> Any:
        value = self._fields[name]
        if type(value) is Later:
            value = self._fields[name] = self._within(value.make)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


class _Session:
    """The facts of one session, and when each of its documents last changed."""

    def __init__(self, world: Any):
        self.world = world
        self.facts = Facts(world, COLLECTORS)
        self.watch = Watch(self.facts)
        self.freshness = Freshness(world)
        self.sequence: int | None = None
        self._index = 0

    def apply(self, step: Step) -> None:
        """Learns from an event; one of a vendor counts, and feeds nothing (RM-31)."""
        self._index += 1
        if step.place and step.place.sequence is not None:
            self.sequence = step.place.sequence
        if step.type not in self.world.protocol.events:
            return
        self.freshness.learn(step)
        orders = self.watch.before(step)
        self.watch.after(self.facts.learn(step, self._index), orders)

    def acknowledge(self, channel: str, sequence: Any) -> None:
        """Takes in an answer to `ack_events`; an answer is no event, so it does not make a document newer."""
        if self.facts.state("channel", channel) is None:
            return
        self.facts.of(Channels).acknowledge(channel, sequence)
        self.watch.refresh("channel_summary")

    def told(self, model: str, scope: Scope, session_id: str | None) -> OnDemand | None:
        """A document as it stands, with marks of doubt, to be read until the next event."""
        body = self._doubting(lambda: MODELS[model].told(self.facts, scope))
        return None if body is None else OnDemand({**self._head(model, scope, session_id), **body}, self._doubting)

    def inventory(self, scope: Scope, caller: str, session_id: str | None) -> dict[str, Any] | None:
        """The tools of one caller."""
        body, changed = self.facts.of(Catalogues).build(scope, caller), self.facts.of(Catalogues).changed(scope, caller)
        head = {**self._head("tool_inventory_snapshot", scope, session_id), "updated_at": changed or UNWATCHED}
        return {**head, **cloned(body)} if body else None

    def record(self, kind: str, key: str) -> dict[str, Any] | None:
        """The record of one task or job."""
        if key not in self.facts.introduced.get(kind, {}):
            return None
        return cloned(self._doubting(lambda: self.facts.of(RECORDS[kind]).record(key)))

    def _doubting(self, make: Callable[[], Any]) -> Any:
        self.facts.doubts = True
        try:
            return make()
        finally:
            self.facts.doubts = False

    def _head(self, model: str, scope: Scope, session_id: str | None) -> dict[str, Any]:
        sequence = self.sequence if self.sequence is not None else honest("unavailable", "the stream does not count")
        head = {
            "schema_version": self.world.protocol.version,
            "session_id": session_id,
            "as_of_sequence": sequence,
            "updated_at": self.watch.times.get((model, scope.narrowest)),
            "thread_id": scope.thread,
            "turn_id": scope.turn,
            **self.freshness.shown(),
        }
        return {name: value for name, value in head.items() if value is not None}


class ReadModels:
    """A ledger that can tell at any line what the read models of the core protocol say."""

    def __init__(self, world: Any):
        self._world = world
        self._sessions: dict[str | None, _Session] = {}
        self.current: str | None = None
        """The session of the last event."""
        self._asked: dict[str, str] = {}

    def apply(self, step: Step) -> None:
        """Learns from a line: an event, or a command and its answer."""
        if step.kind == "event":
            self._session_of(step).apply(step)
        elif step.kind == "command" and step.line.get("command") == "ack_events":
            self._acknowledging(step.line)
        elif step.kind == "result" and step.line.get("command") == "ack_events":
            self._acknowledged(step.line)

    def _session_of(self, step: Step) -> _Session:
        """The session an event names; one that names none goes on in the session of the event before it."""
        named = step.scope.get("session_id")
        if named is not None and named not in self._sessions and None in self._sessions:
            self._sessions[named] = self._sessions.pop(None)
        self.current = named if named is not None else self.current
        if self.current not in self._sessions:
            self._sessions[self.current] = _Session(self._world)
        return self._sessions[self.current]

    def _acknowledging(self, line: dict[str, Any]) -> None:
        channel = as_record(line.get("request")).get("channel_id")
        if isinstance(channel, str):
            self._asked[str(line.get("command_id"))] = channel

    def _acknowledged(self, line: dict[str, Any]) -> None:
        channel, result = self._asked.pop(str(line.get("command_id")), None), as_record(line.get("result"))
        if channel is None or result.get("outcome") != "accepted":
            return
        for session in self._sessions:
            self.acknowledge(channel, known(result.get("last_acknowledged_sequence")), session)

    def acknowledge(self, channel: str, sequence: Any, session: str | None) -> None:
        """Takes in how far a channel of a session has read."""
        if session in self._sessions:
            self._sessions[session].acknowledge(channel, sequence)

    def forget(self, session: str | None) -> None:
        """Drops everything about a session."""
        self._sessions.pop(session, None)

    @property
    def sessions(self) -> list[str]:
        """The sessions that events named, in order."""
        return [key for key in self._sessions if key is not None]

    def holds(self, machine: str, state: str) -> bool:
        """True when some subject of a machine is in a state."""
        return any(session.facts.in_state.get((machine, state)) for session in self._sessions.values())

    def places(self) -> Iterator[tuple[str | None, str | None, str | None]]:
        """Every session, thread and turn a document can be limited to, as the three ids of it."""
        for key, session in self._sessions.items():
            yield key, None, None
            mentions, belonging = session.facts.mentions, session.facts.belonging
            yield from ((key, thread, None) for thread in mentions.ids("thread_id", SESSION))
            yield from ((key, belonging.of("turn_id", turn), turn) for turn in mentions.ids("turn_id", SESSION))

    def sequence(self, session_id: str | None) -> int | None:
        """The last sequence of a session."""
        return self._sessions[session_id].sequence if session_id in self._sessions else None

    def record(self, kind: str, key: str) -> dict[str, Any] | None:
        """The record of a task or job, whatever session it is in."""
        found = (session.record(kind, key) for session in self._sessions.values())
        return next((record for record in found if record is not None), None)

    def inventory(self, caller: str, thread_id: str | None, turn_id: str | None, session_id: str | None) -> Any:
        """The tools of one caller; None when no event told them."""
        session, scope = self._sessions.get(session_id), limited("tool_inventory_snapshot", thread_id, turn_id)
        return session.inventory(scope, caller, session_id) if session and scope else None

    def inventory_told(
        self, document: dict[str, Any], caller: str | None, thread_id: str | None, turn_id: str | None, session_id: Any
    ) -> Any:
        """The tools beside a document that names where they were resolved.

        The latest catalogue of a wider scope names its thread and turn as well (19.8). So the scope may be that turn,
        that thread or the session, and each of them has its own time of the last change.
        """
        model, scopes = "tool_inventory_snapshot", ((thread_id, turn_id), (thread_id, None), (None, None))
        ask = self.build if caller is None else self.inventory
        narrowest, *wider = (ask(model if caller is None else caller, *scope, session_id) for scope in scopes)
        changed = document.get("updated_at")
        for other in wider:
            if narrowest and other == {**narrowest, "updated_at": changed}:
                return other
        return narrowest

    def build(
        self, model: str, thread_id: str | None = None, turn_id: str | None = None, session_id: str | None = None
    ) -> dict[str, Any] | None:
        """The document of a model, limited as asked as far as the model can be; None when no event fed it."""
        told = self.told(model, thread_id, turn_id, session_id)
        return cloned(dict(told)) if told is not None else None

    def told(
        self, model: str, thread_id: str | None = None, turn_id: str | None = None, session_id: str | None = None
    ) -> OnDemand | None:
        """The same, to be read until the next event: of its fields those are worked out that somebody asks for."""
        key = session_id if session_id is not None else next(iter(self._sessions), None)
        session, scope = self._sessions.get(key), limited(model, thread_id, turn_id)
        return session.told(model, scope, key) if session is not None and scope is not None else None
