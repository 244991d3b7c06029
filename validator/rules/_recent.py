"""Memory with a bound: what a rule remembers of a stream that has no end."""

from __future__ import annotations

from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(dict, Generic[Key, Value]):
    """The entries that came last; the oldest is forgotten when there are more than the limit."""

    def __init__(self, limit: int):
        super().__init__()
        self.limit = limit

    def keep(self, key: Key, value: Value) -> None:
        """Remembers an entry under a key; one that stands there already stays as it is."""
        self.setdefault(key, value)
        if len(self) > self.limit:
            del self[next(iter(self))]
