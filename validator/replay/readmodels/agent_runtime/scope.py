"""Which events feed which read model: threads and what belongs to them, first mentions, and facts told in a scope."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from validator.records import dataclass

BELONGING = ("turn_id", "task_id", "tool_call_id", "process_id", "action_id")
"""Ids through which an event without a thread finds its thread, in this order."""

Name = tuple[str, str]


class Scope(NamedTuple):
    """What a read model is limited to; a turn beats its thread, and nothing at all means the whole session."""

    thread: str | None = None
    turn: str | None = None

    @property
    def narrowest(self) -> Scope:
        """The same without the thread of a turn, which limits nothing more."""
        return Scope(None, self.turn) if self.turn and self.thread else self


SESSION = Scope()
EVERY_THREAD = Scope("*", "*")
"""Stands for all threads there are."""
Scopes = frozenset[Scope]
NOWHERE: Scopes = frozenset()


@dataclass(slots=True)
class Origin:
    """Where an event stands: its thread as far as known, its turn, and the ids that can still tell the thread."""

    thread: str | None
    turn: str | None
    ids: tuple[Name, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.thread, self.turn, None if self.thread else self.ids)


class Belonging:
    """The thread of every turn, task, call, process and action: the first one it was told with."""

    def __init__(self) -> None:
        self._thread: dict[Name, str] = {}
        self._linked: dict[Name, set[Name]] = {}

    def of(self, name: str, key: str | None) -> str | None:
        return self._thread.get((name, key)) if key else None

    def thread(self, origin: Origin) -> str | None:
        """The thread an event is in; once known it never changes."""
        if origin.thread is None:
            origin.thread = next((self._thread[name] for name in origin.ids if name in self._thread), None)
        return origin.thread

    def learn(self, ids: dict[str, str]) -> tuple[Origin, bool]:
        """The origin of an event, and whether earlier events found their thread through it."""
        names = tuple((name, ids[name]) for name in BELONGING if name in ids)
        origin = Origin(ids.get("thread_id"), ids.get("turn_id"), names)
        thread = self.thread(origin)
        unknown = [name for name in names if name not in self._thread]
        if thread is None:
            for name in unknown:
                self._linked.setdefault(name, set()).update(unknown)
            return origin, False
        late = [self._assign(name, thread) for name in unknown]
        return origin, any(late)

    def brings(self, ids: dict[str, str]) -> bool:
        """True when an event with some ids is about to bring earlier ones to their thread."""
        linked = any((name, ids[name]) in self._linked for name in BELONGING if name in ids)
        return linked and self.thread_of(ids) is not None

    def _assign(self, name: Name, thread: str) -> bool:
        if name in self._thread:
            return False
        self._thread[name] = thread
        linked = self._linked.pop(name, set())
        for other in linked:
            self._assign(other, thread)
        return bool(linked)

    def scopes(self, origin: Origin) -> Scopes:
        """The session, thread and turn whose models an event feeds."""
        thread, turn = self.thread(origin), origin.turn
        found = (SESSION, Scope(thread) if thread else None, Scope(None, turn) if turn else None)
        return frozenset(scope for scope in found if scope)

    def thread_of(self, ids: dict[str, str]) -> str | None:
        """The thread that an event with some ids is in, as far as it is known before the event."""
        told = (self._thread.get((name, ids[name])) for name in BELONGING if name in ids)
        return ids.get("thread_id") or next((thread for thread in told if thread), None)

    def within(self, origin: Origin, scope: Scope) -> bool:
        """True when an event feeds the models of a scope."""
        if scope.turn is not None:
            return origin.turn == scope.turn
        return scope.thread is None or self.thread(origin) == scope.thread


class Mentions:
    """When each id was first mentioned, in each place from which it was mentioned."""

    def __init__(self, belonging: Belonging):
        self._belonging = belonging
        self._seen: dict[str, dict[str, dict[tuple[Any, ...], tuple[int, Origin]]]] = {}

    def add(self, name: str, key: str, index: int, origin: Origin) -> bool:
        """Notes a mention; True when it is the first from its place."""
        places = self._seen.setdefault(name, {}).setdefault(key, {})
        if origin.key in places:
            return False
        places[origin.key] = (index, origin)
        return True

    def first(self, name: str, key: str, scope: Scope) -> int | None:
        """The index of the first event in scope that carries an id."""
        places = self._seen.get(name, {}).get(key, {})
        if scope == SESSION:
            return next((index for index, _ in places.values()), None)
        return min((index for index, origin in places.values() if self._belonging.within(origin, scope)), default=None)

    def ids(self, name: str, scope: Scope) -> list[str]:
        """Every id of a kind that events in scope carry, in order."""
        seen = self._seen.get(name, {})
        if scope == SESSION:
            return list(seen)
        found = ((self.first(name, key, scope), key) for key in seen)
        return [key for index, key in sorted((index, key) for index, key in found if index is not None)]

    def order(self, name: str, keys: Any, scope: Scope) -> list[str]:
        """Some ids of a kind in order; one that no event in scope carries stands where the session mentions it."""
        return sorted(keys, key=lambda key: self.rank(name, key, scope))

    def rank(self, name: str, key: str, scope: Scope) -> int:
        """Where an id stands in the order of its kind."""
        index = self.first(name, key, scope)
        return index if index is not None else self.first(name, key, SESSION) or 0

    def turns(self, name: str, key: str) -> set[str]:
        """The turns from which an id was mentioned."""
        places = self._seen.get(name, {}).get(key, {}).values()
        return {origin.turn for _, origin in places if origin.turn is not None}

    def scopes(self, name: str, key: str) -> Scopes:
        """The session, and the threads from which an id was mentioned; nothing when it never was."""
        places = self._seen.get(name, {}).get(key, {}).values()
        threads = {self._belonging.thread(origin) for _, origin in places}
        return frozenset((SESSION, *(Scope(thread) for thread in threads if thread))) if threads else NOWHERE


@dataclass(frozen=True, slots=True)
class Told:
    """A value with the event that told it."""

    index: int
    origin: Origin
    value: Any


class Log:
    """Everything told of one kind, in the order of the events."""

    def __init__(self, belonging: Belonging):
        self._belonging = belonging
        self.entries: dict[int, Told] = {}
        """By the index of the event."""

    def add(self, index: int, origin: Origin, value: Any) -> None:
        self.entries[index] = Told(index, origin, value)

    def scopes(self, index: int) -> Scopes:
        """Where an event of the log counts; nowhere when it is not in the log."""
        return self._belonging.scopes(self.entries[index].origin) if index in self.entries else NOWHERE

    def within(self, scope: Scope) -> Iterator[Told]:
        return (entry for entry in self.entries.values() if self._belonging.within(entry.origin, scope))

    def values(self, scope: Scope) -> list[Any]:
        return [entry.value for entry in self.within(scope)]


class Latest:
    """The last value told in each place, by name."""

    def __init__(self, belonging: Belonging):
        self._belonging = belonging
        self._told: dict[tuple[str, Scope], Told] = {}
        self._unplaced: dict[str, dict[tuple[Any, ...], Told]] = {}
        """What was told before its thread was known, by name and origin."""

    def tell(self, name: str, index: int, origin: Origin, value: Any) -> None:
        told = Told(index, origin, value)
        for scope in self._belonging.scopes(origin):
            self._told[name, scope] = told
        if origin.thread is None and origin.ids:
            self._unplaced.setdefault(name, {})[origin.key] = told

    def get(self, name: str, scope: Scope) -> Told | None:
        """What was told last in a scope."""
        scope = scope.narrowest
        told = self._told.get((name, scope))
        if scope.thread is None or name not in self._unplaced:
            return told
        late = (entry for entry in self._unplaced[name].values() if self._belonging.within(entry.origin, scope))
        return max((entry for entry in (told, *late) if entry), key=lambda entry: entry.index, default=None)

    def scopes(self, name: str) -> list[Scope]:
        """Every scope in which something was told."""
        late = (self._belonging.scopes(told.origin) for told in self._unplaced.get(name, {}).values())
        return list(dict.fromkeys((*(scope for known, scope in self._told if known == name), *itertools.chain(*late))))

    def value(self, name: str, scope: Scope) -> Any:
        told = self.get(name, scope)
        return told.value if told else None
