"""The form of a line: which of the keys that somebody minds it has, and who was found to attend to lines like it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Lane:
    """Who attends to the lines of a form that are of one kind and type, and come next in their stream or do not."""

    __slots__ = ("asked", "astray", "heard")

    def __init__(self, astray: bool):
        self.astray = astray
        self.heard: tuple[Any, ...] | None = None
        """The ledgers that hear them; None until that was found out."""
        self.asked: dict[int, tuple[Any, ...]] = {}
        """Of some rules, by the identity of their tuple, those that may have something to say."""


class Form:
    """What can be told of a line by its keys alone; lines that have the same of them share one."""

    __slots__ = ("below", "lanes", "top", "twice")

    def __init__(self, top: frozenset[str], below: frozenset[str], twice: bool):
        self.top = top
        """The keys of the line itself."""
        self.below = below
        """The keys of what it holds, at whatever depth."""
        self.twice = twice
        """One of its keys, minded or not, occurs below as well."""
        self.lanes: dict[tuple[str, str | None, bool], Lane] = {}
        """By kind, type and whether a step is astray."""

    def has(self, names: Iterable[str]) -> bool:
        """True when one of some keys occurs anywhere."""
        return not (self.top.isdisjoint(names) and self.below.isdisjoint(names))


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of a form, and the keys that it minds."""

    names: tuple[str, ...]
    test: Callable[[Form], bool]


Given = tuple[str, ...] | Condition
"""Keys of which a line has to hold one, or a condition on its form."""


def minded(given: Given) -> tuple[str, ...]:
    """The keys that decide whether a line may hold what somebody looks for."""
    return given.names if isinstance(given, Condition) else given
