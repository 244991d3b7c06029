"""What is reported once in a capture: the first time of each."""

from __future__ import annotations

from collections.abc import Hashable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Firsts:
    """A ledger that knows what was reported, beside whatever else it knows."""

    def __init__(self) -> None:
        self._reported: set[Hashable] = set()

    def first(self, *what: str) -> bool:
        """True the first time that something is asked for."""
        if what in self._reported:
            return False
        self._reported.add(what)
        return True

    def tell(self) -> set[Hashable]:
        return self._reported

    def hear(self, told: list[set[Any]], first: bool) -> bool:
        """False when two tell the first of something: together they would have told one of them."""
        return sum(map(len, told)) == len(set().union(*told))
