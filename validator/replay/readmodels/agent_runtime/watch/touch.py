"""What one event can have changed, as keys of subjects, entries and scopes."""

from __future__ import annotations

from collections.abc import Iterable

from validator.protocol.machine import NONE
from validator.replay.readmodels.agent_runtime.facts import Fact, Facts
from validator.replay.readmodels.agent_runtime.records import as_list
from validator.replay.readmodels.agent_runtime.scope import BELONGING
from validator.replay.readmodels.agent_runtime.turns import Turns

ROLLED_BACK = "history.rollback.completed"
WINDOW = "history.window.loaded"


class Touch:
    """An event, asked for what it names, moves, opens and removes."""

    def __init__(self, facts: Facts, fact: Fact):
        self.facts, self.fact, self.type = facts, fact, fact.type
        self._moved: dict[str, dict[str, None]] = {}
        for move in fact.step.moves:
            self._moved.setdefault(move.machine, {})[move.subject] = None
        told = as_list(fact.payload.get("removed_turn_ids")) if fact.type == ROLLED_BACK else ()
        self.removed = [turn for turn in told if isinstance(turn, str)]
        """Turns that a rollback took away."""
        self.threads = self._threads()
        """The event's thread, and those of whatever it names, moves or removes."""
        self.scopes = facts.belonging.scopes(fact.origin)
        """The session, thread and turn that the event feeds."""
        self.arranged = self._arranged()
        """Turns that came into view, left it, or are shown in another window."""

    def subjects(self, machine: str, name: str) -> dict[str, None]:
        """Subjects of a table that the event names or moves."""
        found = dict(self._moved.get(machine, ()))
        if name in self.fact.ids:
            found[self.fact.ids[name]] = None
        return found

    def carried(self, name: str) -> Iterable[str]:
        """The id of a kind that the event carries."""
        return (self.fact.ids[name],) if name in self.fact.ids else ()

    def _threads(self) -> dict[str, None]:
        belonging, ids = self.facts.belonging, self.fact.ids
        found = {belonging.thread(self.fact.origin): None}
        found |= {belonging.of(name, ids[name]): None for name in BELONGING if name in ids}
        found |= {belonging.of("turn_id", turn): None for turn in self.removed}
        found |= {self._thread(machine, key): None for machine, keys in self._moved.items() for key in keys}
        return {thread: None for thread in found if thread}

    def _thread(self, machine: str, key: str) -> str | None:
        name = f"{machine}_id"
        return self.facts.belonging.of(name, key) if name in BELONGING else self.facts.thread_of(machine, key)

    def _arranged(self) -> dict[str, None]:
        opened = (move.subject for move in self.fact.step.moves if move.machine == "turn" and move.source == NONE)
        shifted = self.facts.of(Turns).turns if self.type == WINDOW else ()
        return dict.fromkeys((*opened, *self.removed, *shifted))
