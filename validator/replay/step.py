"""What one line changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from validator.protocol.machine import Driver, Row


@dataclass(frozen=True, slots=True)
class Move:
    """A subject took a row."""

    machine: str
    subject: str
    source: str
    target: str
    row: Row


@dataclass(frozen=True, slots=True)
class Refusal:
    """A driver found no row: the move would be illegal."""

    machine: str
    subject: str
    state: str
    driver: Driver
    clause: str


@dataclass(slots=True)
class Step:
    """One line and everything it moved or failed to move."""

    line: dict[str, Any]
    moves: list[Move] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
