"""What the events of one session told, kept by subject.

A collector remembers what one kind of subject needs and lists, by event type, what it listens to. `Facts` shows each
event to the collectors that listen, and keeps what all of them share: threads and what belongs to them, first
mentions, and how each subject last moved and ended. States come from the fold; nothing here moves one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from validator.protocol.machine import NONE, SAME
from validator.protocol.protocol import Protocol
from validator.replay.readmodels.agent_runtime.records import Records, as_record
from validator.replay.readmodels.agent_runtime.scope import (
    BELONGING,
    NOWHERE,
    SESSION,
    Belonging,
    Latest,
    Log,
    Mentions,
    Origin,
    Scope,
    Scopes,
)
from validator.replay.step import Step
from validator.replay.subject import Subject

STALE = "stale"
LOST = "lost"
VALUES = ("runtime_id", "trace_id", "span_id")
"""Ids that are shown as they were told, honest values included; no entry is known by them."""
MENTIONED = (
    *("thread_id", "turn_id", "task_id", "run_id", "step_id", "tool_call_id", "process_id", "action_id"),
    *("subagent_id", "job_id", "artifact_id", "evidence_id", "channel_id", "peer_task_id", "trace_id"),
)
"""Ids whose order of mention some list follows."""
ENTRY = {machine: f"{machine}_id" for machine in ("turn", "task", "tool_call", "process", "subagent", "job")}
"""The id that the entry of a moved subject is known by."""
SHOWN_END = ("error", "reason", "summary", "exit_code", "duration_ms")
"""What the entries show of the event that ended their subject."""


@dataclass(slots=True)
class Fact:
    """One event, ready to be asked for what it tells."""

    step: Step
    type: str
    index: int
    origin: Origin
    late: bool = False
    """Earlier events found their thread through it."""
    anew: set[str] = field(default_factory=set)
    """Names of the ids that were never before mentioned from its place."""
    line: dict[str, Any] = field(init=False)
    payload: dict[str, Any] = field(init=False)
    ids: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.line, self.ids = self.step.line, self.step.scope
        self.payload = as_record(self.line.get("payload"))

    @property
    def time(self) -> Any:
        return self.line.get("timestamp")

    @property
    def sequence(self) -> int | None:
        return self.step.place.sequence if self.step.place else None

    def side(self, name: str) -> dict[str, Any]:
        """The record that the event carries beside its payload."""
        return as_record(self.line.get(name))

    def told(self, name: str, *sides: str) -> Any:
        """A field of the payload, else of the first side object that has it."""
        value = self.payload.get(name)
        places = (self.side(side).get(name) for side in sides)
        return value if value is not None else next((place for place in places if place is not None), None)


@dataclass(frozen=True, slots=True)
class Turning:
    """An event that moved a subject, as far as entries show it."""

    index: int
    time: Any
    type: str
    said: dict[str, Any]


Listener = Callable[[Fact], None]


class Collector:
    """Remembers what one kind of subject needs; `listens` maps event types, or patterns of them, to methods."""

    listens: dict[str, str] = {}  # noqa: RUF012 - a table of the class, never changed
    carries: tuple[str, ...] = ()
    """Side objects and ids that make any event worth a look; `meet` is called for those."""

    def __init__(self, facts: Facts):
        self.facts = facts

    def meet(self, fact: Fact) -> None:
        """Learns from an event of any type that carries one of `carries`."""


@functools.lru_cache(maxsize=1024)
def _named(protocol: Protocol, pattern: str) -> tuple[str, ...]:
    """The event types of a protocol that a pattern names; asked for every session anew."""
    return tuple(event for event in protocol.events if fnmatchcase(event, pattern))


class Facts:
    """Everything that the events of one session told."""

    def __init__(self, world: Any, collectors: Iterable[type[Collector]]):
        self.world, self.protocol = world, world.protocol
        self.records = Records(self.protocol)
        self.belonging = Belonging()
        self.mentions = Mentions(self.belonging)
        self.threads_told: dict[str, tuple[int, Any]] = {}
        self._unplaced = Latest(self.belonging)
        self.introduced: dict[str, dict[str, None]] = {}
        """Subjects by table that an event of this session introduced."""
        self.rows: dict[tuple[str, str], Turning] = {}
        """The last row, other than one to `same`, that each subject took."""
        self.ends: dict[tuple[str, str], Turning] = {}
        self.changes: dict[tuple[str, str], int] = {}
        """The last event that left each subject in another state than it was in."""
        self.in_state: dict[tuple[str, str], dict[str, None]] = {}
        """Introduced subjects by table and state."""
        self.closings: dict[str | None, dict[str, None]] = {}
        """Turns by thread, as far as it was known, in the order in which they last ended or were lost."""
        self._entries: dict[tuple[str | None, str | None], dict[str, Any]] = {}
        self.doubts = False
        """Statuses are shown with the marks of doubt; off while documents are compared with each other."""
        self._subjects = frozenset(self.protocol.identities) - {*VALUES}
        self._collectors = {kind: kind(self) for kind in collectors}
        self._on: dict[str, list[Listener]] = {}
        self._carried: dict[str, list[Listener]] = {}
        for collector in self._collectors.values():
            self._register(collector)

    def _register(self, collector: Collector) -> None:
        for pattern, method in collector.listens.items():
            for event in _named(self.protocol, pattern):
                self._on.setdefault(event, []).append(getattr(collector, method))
        for name in collector.carries:
            self._carried.setdefault(name, []).append(collector.meet)

    def of(self, kind: type[Any]) -> Any:
        """The one collector of a kind."""
        return self._collectors[kind]

    def log(self) -> Log:
        return Log(self.belonging)

    def latest(self) -> Latest:
        return Latest(self.belonging)

    def learn(self, step: Step, index: int) -> Fact:
        """Shows an event to whoever listens."""
        origin, late = self.belonging.learn(step.scope)
        fact = Fact(step, str(step.type), index, origin, late)
        ids = {name: step.scope[name] for name in MENTIONED if name in step.scope}
        if isinstance(ref := self.protocol.lens.get(step.line, "output_ref"), str):
            ids["output_ref"] = ref
        fact.anew = {name for name, key in ids.items() if self.mentions.add(name, key, index, origin)}
        self._place(fact)
        self._turn(fact)
        self._forget(fact)
        met = {meet: None for name, meets in self._carried.items() if self.has(fact, name) for meet in meets}
        if self._identified(fact):
            for listener in (*self._on.get(fact.type, ()), *met):
                listener(fact)
        return fact

    def _identified(self, fact: Fact) -> bool:
        """True when an event names what it is about; a fact without its identity is no fact (HON-6)."""
        family = self.protocol.families[self.protocol.family_of[fact.type]]
        return fact.ids.keys() >= set(family["carries"]["must"])

    def _forget(self, fact: Fact) -> None:
        """Drops the entries that an event can have changed: those of the ids it carries and of what it moved."""
        for name in ENTRY.values():
            self._entries.pop((name, fact.ids.get(name)), None)
        for move in fact.step.moves:
            self._entries.pop((ENTRY.get(move.machine), move.subject), None)

    def forget(self, name: str, key: str) -> None:
        """Drops an entry that an event changed without carrying its id."""
        self._entries.pop((name, key), None)

    def entry(self, name: str, key: str, make: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        """An entry, put together once until an event can have changed it; with marks of doubt, always anew."""
        if self.doubts and self.world.lost() is not None:
            return make(key)
        if (name, key) not in self._entries:
            self._entries[name, key] = make(key)
        return self._entries[name, key]

    def has(self, fact: Fact, name: str) -> bool:
        """True when an event carries an id or a side object; a subject that is honestly unknown is not carried."""
        return name in fact.ids if name in self._subjects else name in fact.line

    def _place(self, fact: Fact) -> None:
        thread = self.belonging.thread(fact.origin)
        if thread is not None:
            self.threads_told[thread] = (fact.index, fact.time)
        elif fact.origin.ids:
            self._unplaced.tell("time", fact.index, fact.origin, fact.time)

    def last_time(self, thread: str) -> Any:
        """The time of the latest event of a thread."""
        late = self._unplaced.get("time", Scope(thread))
        told = [self.threads_told.get(thread, (-1, None)), (late.index, late.value) if late else (-1, None)]
        return max(told, key=lambda entry: entry[0])[1]

    def _turn(self, fact: Fact) -> None:
        for move in fact.step.moves:
            machine = self.protocol.machines[move.machine]
            if move.source == NONE:
                self.introduced.setdefault(move.machine, {})[move.subject] = None
            self.in_state.get((move.machine, move.source), {}).pop(move.subject, None)
            self.in_state.setdefault((move.machine, move.target), {})[move.subject] = None
            if move.source != move.target:
                self.changes[move.machine, move.subject] = fact.index
            if move.row.target == SAME:
                continue
            said = {name: value for name in SHOWN_END if (value := fact.payload.get(name)) is not None}
            turning = Turning(fact.index, fact.time, fact.type, said)
            self.rows[move.machine, move.subject] = turning
            if machine.is_terminal(move.target) and not machine.is_terminal(move.source):
                self.ends[move.machine, move.subject] = turning
            if move.machine == "turn" and (self.ends.get(("turn", move.subject)) is turning or move.target == LOST):
                self._close(move.subject)

    def _close(self, turn: str) -> None:
        thread = self.belonging.of("turn_id", turn)
        for place in (None, thread):
            self.closings.setdefault(place, {}).pop(turn, None)
        self.closings[thread][turn] = None

    def subject(self, machine: str, key: str) -> Subject | None:
        return self.world.subjects(machine).get(key)

    def state(self, machine: str, key: str) -> str | None:
        """The state of a subject in its table."""
        return self.world.state(machine, key)

    def status(self, machine: str, key: str) -> str | None:
        """The state of a subject, or stale while it is in doubt (HON-19); None before an event brings it about."""
        subject = self.subject(machine, key)
        if subject is None:
            return None
        return STALE if self.doubts and subject.doubted else subject.state

    def is_over(self, machine: str, key: str) -> bool:
        return self.protocol.machines[machine].is_terminal(self.state(machine, key) or "")

    def end(self, machine: str, key: str) -> Turning | None:
        """The event that ended a subject, as long as it is ended."""
        return self.ends.get((machine, key)) if self.is_over(machine, key) else None

    def known(self, machine: str, name: str, scope: Scope) -> list[str]:
        """Subjects of a machine that are in scope, in order; what belongs to a thread belongs to no other."""
        subjects = self.introduced.get(machine, {})
        if scope.thread is None or scope.turn is not None or name not in BELONGING:
            return [key for key in self.mentions.ids(name, scope) if key in subjects]
        mine = [key for key in subjects if self.belonging.of(name, key) == scope.thread]
        return self.mentions.order(name, mine, scope)

    def scopes(self, machine: str, name: str, key: str) -> Scopes:
        """The session, and the thread that a known subject belongs to."""
        if key not in self.introduced.get(machine, {}):
            return NOWHERE
        thread, told = self.belonging.of(name, key), self.mentions.first(name, key, SESSION) is not None
        found = (SESSION if told else None, Scope(thread) if thread else None)
        return frozenset(scope for scope in found if scope)

    def standing(self, machine: str, *states: str) -> list[str]:
        """Subjects of a table that are in one of some states."""
        return [key for state in states for key in self.in_state.get((machine, state), ())]

    def work_in_doubt(self, thread: str) -> bool:
        """True when a thread has work that was open before a gap and has not been heard of since."""
        if not self.doubts or self.world.lost() is None:
            return False
        machines = (machine for machine in self.protocol.machines.values() if machine.work)
        subjects = (subject for machine in machines for subject in self.world.subjects(machine.name).values())
        return any(subject.doubted and self._belongs_to(subject) == thread for subject in subjects)

    def thread_of(self, machine: str, key: str) -> str | None:
        """The thread a subject that exists belongs to, as far as it is known."""
        return key if machine == "thread" else self._belongs_to(self.subject(machine, key))

    def _belongs_to(self, subject: Subject) -> str | None:
        ids = {**subject.scope, **({subject.by: subject.key} if subject.by in BELONGING else {})}
        own = self.belonging.of(subject.by, subject.key)
        names = tuple((name, ids[name]) for name in BELONGING if name in ids)
        return own or self.belonging.thread(Origin(ids.get("thread_id"), None, names))
