"""Memory with a bound: what a rule remembers of a stream that has no end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Key = TypeVar("Key")
    Value = TypeVar("Value")


class Recent(dict):
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


class Waiting:
    """What was told under each key and not looked at yet; of all of it the oldest is forgotten beyond the limit.

    Most of it is forgotten before anybody looks, so it is sorted by keys when somebody does.
    """

    def __init__(self, limit: int):
        self._limit = limit
        self._new: deque[tuple[Key, Value]] = deque(maxlen=limit)
        """What is not sorted yet."""
        self._order: deque[tuple[Key, Value]] = deque()
        """What is, the oldest first; it is older than all that is new."""
        self._told: dict[Key, deque[Value]] = {}

    def add(self, key: Key, value: Value) -> None:
        self._new.append((key, value))

    def take(self, key: Key) -> Iterable[Value]:
        """What waits under a key, in its order; it waits no longer."""
        return self._sorted().pop(key, ())

    def discard(self, key: Key) -> None:
        self.take(key)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._sorted())

    def items(self) -> Iterable[tuple[Key, Iterable[Value]]]:
        return self._sorted().items()

    def _sorted(self) -> dict[Key, deque[Value]]:
        order, told = self._order, self._told
        while order and len(order) + len(self._new) > self._limit:
            self._drop(*order.popleft())
        for key, value in self._new:
            waits = told.get(key)
            if waits is None:
                waits = told[key] = deque()
            waits.append(value)
        order += self._new
        self._new.clear()
        return told

    def _drop(self, key: Key, value: Value) -> None:
        told = self._told.get(key)
        # What was taken meanwhile is not there any more, and what was told since is younger.
        if told and told[0] is value:
            told.popleft()
            if not told:
                del self._told[key]
