"""Paths as trees of their steps, so that one is found among many without looking at all of them."""

from __future__ import annotations

from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Paths:
    """Sequences of steps."""

    def __init__(self, paths: Iterable[list[str]]):
        self._root: dict[Any, Any] = {}
        for steps in paths:
            place = self._root
            for step in steps:
                place = place.setdefault(step, {})
            place[None] = True

    def lead_to(self, steps: list[str]) -> bool:
        """One of them is the beginning of a path, or all of it."""
        return self._walk(steps)[0]

    def go_on_from(self, steps: list[str]) -> bool:
        """A path is the beginning of one of them, or all of it."""
        return self._walk(steps)[1]

    def _walk(self, steps: list[str]) -> tuple[bool, bool]:
        place, passed = self._root, None in self._root
        for step in steps:
            place = place.get(step)
            if place is None:
                return passed, False
            passed = passed or None in place
        return passed, True
