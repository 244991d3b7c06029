"""The form of a line: which keys it has, and who was found to attend to lines like it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from validator.protocol.glance import Keys


class Form:
    """What can be told of a line by its keys alone; lines with the same keys share one."""

    __slots__ = ("asked", "below", "heard", "top")

    def __init__(self, keys: Keys):
        self.top = frozenset(keys[0] if keys else ())
        """The keys of the line itself."""
        self.below = frozenset(key for inner in keys[1:] for key in inner)
        """The keys of what it holds, at whatever depth."""
        self.heard: dict[Any, tuple[Any, ...]] = {}
        """Kind, type and place of a step to the ledgers that hear it."""
        self.asked: dict[Any, Any] = {}
        """The same to the rules that are asked about it."""

    def has(self, names: Iterable[str]) -> bool:
        """True when one of some keys occurs anywhere."""
        return not (self.top.isdisjoint(names) and self.below.isdisjoint(names))
