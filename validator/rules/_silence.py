"""Work that was open when the runtime was stopped and of which nothing was heard since.

A restart concerns all open work, and there may be many of either. So what nothing was heard of since the restart before
shares one line, and only what was heard of in between is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from validator.replay.step import Step
from validator.replay.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Name = tuple[str, str]
"""Machine and id."""


class Silence:
    """Subjects that are silent, each with the line of the restart since which it is."""

    def __init__(self, world: Any, wanted: Callable[[Subject, Any], bool]):
        self._world, self._wanted = world, wanted
        self._since: dict[Name, list[int]] = {}
        self._heard: dict[Name, None] = {}
        """Open work that was heard of since the last restart."""
        self._last = [0]
        self._said: tuple[Any, int] | None = None
        """What decides who is silent, at the last restart: its runtime, and how often something was lost before it."""

    def restart(self, number: int, runtime: Any = None) -> None:
        """Everything that is open and wanted is silent from now on."""
        said = (runtime, self._world.losses)
        if said == self._said:
            self._last[0] = number
            subjects = [self._world.subjects(machine)[key] for machine, key in self._heard]
        else:
            self._said, self._last = said, [number]
            subjects = list(self._world.fold.open_work())
        self._heard.clear()
        for subject in subjects:
            if self._wanted(subject, runtime):
                self._since[subject.machine, subject.key] = self._last

    def hear(self, step: Step) -> None:
        """What moves is silent no longer."""
        for move in step.moves:
            self.end((move.machine, move.subject))

    def end(self, name: Name) -> int | None:
        """A subject was heard of; the restart since which it was silent."""
        if self._is_open(*name):
            self._heard[name] = None
        else:
            self._heard.pop(name, None)
        since = self._since.pop(name, None)
        return since[0] if since else None

    def _is_open(self, machine: str, key: str) -> bool:
        subject = self._world.subjects(machine).get(key)
        table = self._world.protocol.machines[machine]
        return subject is not None and table.work and table.is_open(subject.state)

    def line(self, name: Name) -> int:
        return self._since[name][0]

    def items(self) -> Iterator[tuple[Name, int]]:
        return ((name, since[0]) for name, since in self._since.items())

    def __contains__(self, name: Name) -> bool:
        return name in self._since

    def __len__(self) -> int:
        return len(self._since)
