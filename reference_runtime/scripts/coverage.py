"""What the stories reached of the contract, and why not the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from reference_runtime.contract import protocol
from reference_runtime.scripts.player import Played

UNREACHED = Path(__file__).parent / "unreached.yaml"


def standard_events() -> set[str]:
    """The event types of the core; known extensions may be left out (CONF-40)."""
    families = protocol().families
    return {name for name, family in protocol().family_of.items() if families[family]["origin"] != "extension"}


def table(played: Played) -> Iterator[str]:
    """One line per part of the contract, and one per row that no story takes, with its reason."""
    reasons = yaml.safe_load(UNREACHED.read_text(encoding="utf-8"))
    rows = {row.id: f"{row.driver} -> {row.target}" for row in protocol().rows()}
    yield _line("event types", standard_events(), played.events)
    yield _line("commands", set(protocol().commands), played.commands)
    yield _line("table rows", set(rows), played.rows)
    for row in (row for row in rows if row not in played.rows):
        yield f"  {row} ({rows[row]}): {reasons.get(row, 'NO REASON GIVEN')}"


def unexplained(played: Played) -> list[str]:
    """What was not reached and has no written reason, or was reached although a reason says it cannot be."""
    reasons = yaml.safe_load(UNREACHED.read_text(encoding="utf-8"))
    rows = {row.id for row in protocol().rows()}
    missing = (
        (standard_events() - played.events) | (protocol().commands.keys() - played.commands) | (rows - played.rows)
    )
    return sorted((missing - reasons.keys()) | (reasons.keys() & played.rows))


def _line(what: str, wanted: set[str], reached: set[str]) -> str:
    return f"{what:12} {len(wanted & reached):4} of {len(wanted)}"
