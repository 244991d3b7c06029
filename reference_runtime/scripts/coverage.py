"""What the stories reached of a contract, and why not the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from reference_runtime.contract import CORE, Contract

UNREACHED = Path(__file__).parent / "unreached.yaml"


@dataclass(slots=True)
class Played:
    """What a story did."""

    rows: set[str] = field(default_factory=set)
    events: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)

    def __or__(self, other: Played) -> Played:
        return Played(self.rows | other.rows, self.events | other.events, self.commands | other.commands)


class Coverage:
    """What a contract has, against what was reached of it; a file gives the reasons for the rest."""

    def __init__(self, contract: Contract = CORE, unreached: Path = UNREACHED):
        self._protocol = contract.protocol
        self._reasons = (yaml.safe_load(unreached.read_text(encoding="utf-8")) or {}) if unreached.exists() else {}

    def standard_events(self) -> set[str]:
        """The event types of a protocol; known extensions may be left out (CONF-40)."""
        families = self._protocol.families
        family_of = self._protocol.family_of.items()
        return {name for name, family in family_of if families[family]["origin"] != "extension"}

    def table(self, played: Played) -> Iterator[str]:
        """One line per part of the contract, and one per row that no story takes, with its reason."""
        rows = {row.id: f"{row.driver} -> {row.target}" for row in self._protocol.rows()}
        yield _line("event types", self.standard_events(), played.events)
        if self._protocol.commands:
            yield _line("commands", set(self._protocol.commands), played.commands)
        yield _line("table rows", set(rows), played.rows)
        for row in (row for row in rows if row not in played.rows):
            yield f"  {row} ({rows[row]}): {self._reasons.get(row, 'NO REASON GIVEN')}"

    def unexplained(self, played: Played) -> list[str]:
        """What was not reached and has no written reason, or was reached although a reason says it cannot be."""
        rows = {row.id for row in self._protocol.rows()}
        commands = self._protocol.commands.keys() - played.commands
        missing = (self.standard_events() - played.events) | commands | (rows - played.rows)
        return sorted((missing - self._reasons.keys()) | (self._reasons.keys() & played.rows))


def _line(what: str, wanted: set[str], reached: set[str]) -> str:
    return f"{what:12} {len(wanted & reached):4} of {len(wanted)}"
