"""Which events feed which read model: threads and what belongs to them, first mentions, and facts told in a scope."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

BELONGING = ("turn_id", "task_id", "tool_call_id", "process_id", "action_id")
"""Ids through which an event without a thread finds its thread, in this order."""

Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a read model is limited to; a turn beats its thread, and nothing at all means the whole session."""

    thread: str | None = None
    turn: str | None = None


SESSION = Scope()


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

    def _assign(self, name: Name, thread: str) -> bool:
        if name in self._thread:
            return False
        self._thread[name] = thread
        linked = self._linked.pop(name, set())
        for other in linked:
            self._assign(other, thread)
        return bool(linked)

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
        """Notes a mention; True when a known id appears in another thread, where its order may now be another."""
        places = self._seen.setdefault(name, {}).setdefault(key, {})
        if origin.key in places:
            return False
        threads = {self._belonging.thread(place) for _, place in places.values()}
        places[origin.key] = (index, origin)
        return bool(threads) and origin.thread not in threads

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
        return sorted(keys, key=lambda key: self._rank(name, key, scope))

    def _rank(self, name: str, key: str, scope: Scope) -> int:
        index = self.first(name, key, scope)
        return index if index is not None else self.first(name, key, SESSION) or 0

    def turns(self, name: str, key: str) -> set[str]:
        """The turns from which an id was mentioned."""
        places = self._seen.get(name, {}).get(key, {}).values()
        return {origin.turn for _, origin in places if origin.turn is not None}


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
        self.entries: list[Told] = []

    def add(self, index: int, origin: Origin, value: Any) -> None:
        self.entries.append(Told(index, origin, value))

    def within(self, scope: Scope) -> Iterator[Told]:
        return (entry for entry in self.entries if self._belonging.within(entry.origin, scope))

    def values(self, scope: Scope) -> list[Any]:
        return [entry.value for entry in self.within(scope)]


class Latest:
    """The last value told in each place, by name."""

    def __init__(self, belonging: Belonging):
        self._belonging = belonging
        self._told: dict[str, dict[tuple[Any, ...], Told]] = {}

    def tell(self, name: str, index: int, origin: Origin, value: Any) -> None:
        self._told.setdefault(name, {})[origin.key] = Told(index, origin, value)

    def get(self, name: str, scope: Scope) -> Told | None:
        """What was told last in a scope."""
        places = self._told.get(name, {}).values()
        within = (told for told in places if self._belonging.within(told.origin, scope))
        return max(within, key=lambda told: told.index, default=None)

    def value(self, name: str, scope: Scope) -> Any:
        told = self.get(name, scope)
        return told.value if told else None
