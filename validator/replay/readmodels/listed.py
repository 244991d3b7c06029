"""Lists of a view that grow with what it shows, whose entries are found by what tells them apart.

What is served of a long list may be short; to compare it then costs no more than it shows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Listed(list["Any"]):
    """Entries in the order of their ranks, each under the value of one field, or words under themselves."""

    __slots__ = ("_last", "_more", "_ranks", "first", "known", "names")

    def __init__(self, *names: str):
        super().__init__()
        self.names = names
        """The field that tells entries apart; none for words."""
        self.known: dict[str | None, Any] = {}
        """What tells entries apart to the last of them; None for those that tell nothing."""
        self.first: dict[str | None, Any] = {}
        """The same to the rank of the first of them."""
        self._last: dict[str | None, Any] = {}
        self._more: dict[str | None, int] = {}
        self._ranks: list[Any] = []

    def times(self, key: str | None) -> int:
        """How many entries are told apart by a value."""
        return (key in self.known) + self._more.get(key, 0)

    def enter(self, key: str | None, rank: Any, entry: Any) -> None:
        """Takes in an entry, behind those of its rank and lower ones."""
        place = bisect_right(self._ranks, rank)
        self._ranks.insert(place, rank)
        self.insert(place, entry)
        if key not in self.known:
            self.known[key], self.first[key] = entry, rank
            return
        self._more[key] = self._more.get(key, 0) + 1
        if rank >= self._last.get(key, self.first[key]):
            self.known[key], self._last[key] = entry, rank
        else:
            self._last.setdefault(key, self.first[key])
            self.first[key] = min(rank, self.first[key])

    def add(self, word: str) -> None:
        """Takes in a word, unless it is there."""
        if word not in self.known:
            self.enter(word, len(self), word)

    def leave(self, key: str) -> None:
        """Lets go of the one entry that a value tells apart."""
        place = bisect_left(self._ranks, self.first.pop(key))
        del self.known[key], self._ranks[place], self[place]
