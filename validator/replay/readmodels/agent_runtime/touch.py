"""What one event can have changed, as keys of subjects, entries and scopes."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from validator.protocol.machine import NONE
from validator.replay.readmodels.agent_runtime.facts import Fact, Facts
from validator.replay.readmodels.agent_runtime.records import as_list
from validator.replay.readmodels.agent_runtime.scope import BELONGING, Scopes
from validator.replay.readmodels.agent_runtime.turns import Turns

ROLLED_BACK = "history.rollback.completed"
WINDOW = "history.window.loaded"


class Touch:
    """An event, asked for what it names, moves, opens and removes."""

    def __init__(self, facts: Facts, fact: Fact):
        self.facts, self.fact, self.type = facts, fact, fact.type
        self.family = fact.type.split(".")[0]
        self._moved: dict[str, dict[str, None]] = {}
        for move in fact.step.moves:
            self._moved.setdefault(move.machine, {})[move.subject] = None

    def moved(self, *machines: str) -> bool:
        """True when the event moves a subject of one of some tables."""
        return any(machine in self._moved for machine in machines)

    def subjects(self, machine: str, name: str) -> dict[str, None]:
        """Subjects of a table that the event names or moves."""
        found = dict(self._moved.get(machine, ()))
        if name in self.fact.ids:
            found[self.fact.ids[name]] = None
        return found

    def carried(self, name: str) -> Iterable[str]:
        """The id of a kind that the event carries."""
        return (self.fact.ids[name],) if name in self.fact.ids else ()

    def has(self, *names: str) -> bool:
        """True when the event carries one of some ids or side objects."""
        return any(self.facts.has(self.fact, name) for name in names)

    @functools.cached_property
    def scopes(self) -> Scopes:
        """The session, thread and turn that the event feeds."""
        return self.facts.belonging.scopes(self.fact.origin)

    @functools.cached_property
    def threads(self) -> set[str]:
        """The event's thread, and those of whatever it names, moves or removes."""
        belonging = self.facts.belonging
        named = ((name, self.fact.ids[name]) for name in BELONGING if name in self.fact.ids)
        found = {belonging.thread(self.fact.origin), *(belonging.of(*name) for name in named)}
        found |= {belonging.of("turn_id", turn) for turn in self.removed}
        found |= {self._thread(machine, key) for machine, keys in self._moved.items() for key in keys}
        return {thread for thread in found if thread}

    def _thread(self, machine: str, key: str) -> str | None:
        name = f"{machine}_id"
        return self.facts.belonging.of(name, key) if name in BELONGING else self.facts.thread_of(machine, key)

    @functools.cached_property
    def removed(self) -> list[str]:
        """Turns that a rollback took away."""
        told = as_list(self.fact.payload.get("removed_turn_ids")) if self.type == ROLLED_BACK else ()
        return [turn for turn in told if isinstance(turn, str)]

    @functools.cached_property
    def arranged(self) -> dict[str, None]:
        """Turns that came into view, left it, or are shown in another window."""
        moves = (move for move in self.fact.step.moves if move.machine == "turn" and move.source == NONE)
        shifted = self.facts.of(Turns).turns if self.type == WINDOW else ()
        return dict.fromkeys((*(move.subject for move in moves), *self.removed, *shifted))
