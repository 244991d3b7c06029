"""Where runs stand: by thread and fork, and by when they committed.

Kept with every record once somebody has asked, so that a question costs what stands at one fork.
"""

from __future__ import annotations

from collections.abc import Hashable

from validator.replay.readmodels.words import mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Place = tuple[Hashable, Hashable]
"""The thread and the fork."""


class Places:
    """Runs by what they share."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[Place, tuple[Place, Hashable], bool]] = {}
        """What each run is filed under."""
        self._by_place: dict[Place, dict[str, None]] = {}
        self._by_commit: dict[tuple[Place, Hashable], dict[str, None]] = {}
        """The time is None for runs of which no commit was seen."""
        self._untimed: dict[Place, dict[str, None]] = {}
        """Runs that committed, nobody knows when."""

    def enter(self, run: str, thread: Any, fork: Any, committed_at: Any, is_kept: bool) -> None:
        """Files a run under what its last record says."""
        place = (mark(thread), mark(fork))
        filed = (place, (place, mark(committed_at)), committed_at is None and is_kept)
        before = self._of.get(run)
        if before == filed:
            return
        if before is not None:
            self._leave(run, *before)
        self._of[run] = filed
        self._by_place.setdefault(place, {})[run] = None
        self._by_commit.setdefault(filed[1], {})[run] = None
        if filed[2]:
            self._untimed.setdefault(place, {})[run] = None

    def of(self, run: str) -> Place:
        """The thread and the fork of a run."""
        return self._of[run][0]

    def at(self, place: Place) -> list[str]:
        """The runs that stand at a thread and a fork."""
        return list(self._by_place[place])

    def successor(self, run: str, superseded_at: Any) -> str | None:
        """The sibling that committed at a time, else one that committed at a time not known; None unless it is one."""
        place = self._of[run][0]
        for found in (self._by_commit.get((place, mark(superseded_at))), self._untimed.get(place)):
            others = len(found) - (run in found) if found else 0
            if found and others:
                return next(other for other in found if other != run) if others == 1 else None
        return None

    def _leave(self, run: str, place: Place, commit: tuple[Place, Hashable], is_untimed: bool) -> None:
        del self._by_place[place][run], self._by_commit[commit][run]
        if is_untimed:
            del self._untimed[place][run]
