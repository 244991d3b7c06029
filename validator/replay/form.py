"""The form of a line: which of the keys that somebody minds it has, and who was found to attend to lines like it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Form:
    """What can be told of a line by its keys alone; lines that have the same of them share one."""

    __slots__ = ("asked", "below", "heard", "top", "twice")

    def __init__(self, top: frozenset[str], below: frozenset[str], twice: bool):
        self.top = top
        """The keys of the line itself."""
        self.below = below
        """The keys of what it holds, at whatever depth."""
        self.twice = twice
        """One of its keys, minded or not, occurs below as well."""
        self.heard: dict[Any, tuple[Any, ...]] = {}
        """Kind, type and place of a step to the ledgers that hear it."""
        self.asked: dict[Any, Any] = {}
        """The same to the rules that are asked about it."""

    def has(self, names: Iterable[str]) -> bool:
        """True when one of some keys occurs anywhere."""
        return not (self.top.isdisjoint(names) and self.below.isdisjoint(names))


class Condition(NamedTuple):
    """A test of a form, and the keys that it minds."""

    names: tuple[str, ...]
    test: Callable[[Form], bool]


Given = tuple[str, ...] | Condition
"""Keys of which a line has to hold one, or a condition on its form."""


def minded(given: Given) -> tuple[str, ...]:
    """The keys that decide whether a line may hold what somebody looks for."""
    return given.names if isinstance(given, Condition) else given
