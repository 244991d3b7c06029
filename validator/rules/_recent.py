"""Memory with a bound: what a rule remembers of a stream that has no end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(dict, Generic[Key, Value]):
    """The entries that came last; the oldest is forgotten when there are more than the limit."""

    def __init__(self, limit: int):
        super().__init__()
        self.limit = limit
        self.kept = 0
        """Entries that were ever kept."""

    def keep(self, key: Key, value: Value) -> None:
        """Remembers an entry under a key; one that stands there already stays as it is."""
        if key in self:
            return
        self[key] = value
        self.kept += 1
        if len(self) > self.limit:
            del self[next(iter(self))]


class Waiting(dict, Generic[Key, Value]):
    """What was told under each key and not looked at yet; of all of it the oldest is forgotten beyond the limit."""

    def __init__(self, limit: int):
        super().__init__()
        self.limit = limit
        self._order: deque[tuple[Key, Value]] = deque()

    def add(self, key: Key, value: Value) -> None:
        told = self.get(key)
        if told is None:
            told = self[key] = deque()
        told.append(value)
        self._order.append((key, value))
        if len(self._order) > self.limit:
            self._drop(*self._order.popleft())

    def _drop(self, key: Key, value: Value) -> None:
        told = self.get(key)
        # What was taken meanwhile is not there any more, and what was told since is younger.
        if told and told[0] is value:
            told.popleft()
            if not told:
                del self[key]

    def take(self, key: Key) -> Iterable[Value]:
        """What waits under a key, in its order; it waits no longer."""
        return self.pop(key, ())
