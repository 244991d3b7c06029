"""The lines of one run, sorted, as both read models are told from them.

A view repeats what the lines prove. What none of them gives is unknown, with the reason, and is never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reference_runtime.contract import Contract
from reference_runtime.stamping import read

Line = dict[str, Any]
PROTOCOL = "runagents/1"
CONTRACT = Contract(PROTOCOL)


def unknown(reason: str) -> dict[str, str]:
    """The honest value of what no line gives."""
    return {"honest": "unknown", "reason": reason}


def kind_of(event: Line) -> str:
    """What happened, in the word that the catalogue uses for it (RA-13)."""
    return CONTRACT.protocol.aliases.get(event["type"], event["type"])


def told(event: Line) -> dict[str, Any]:
    """The details of an event."""
    return event.get("data", {})


def first(*values: Any) -> Any:
    """The first value that is given, or None."""
    return next((value for value in values if value is not None), None)


@dataclass(frozen=True, slots=True)
class History:
    """The lines of one run, by kind, in their order."""

    events: list[Line]
    runs: list[Line]
    actions: list[Line]
    requests: list[Line]
    everything: list[Line]

    @classmethod
    def of(cls, lines: Iterable[Line]) -> History:
        """Sorts lines; an event that is delivered again counts once (RA-11)."""
        unique = list({line.get("event_id", at): line for at, line in reversed(list(enumerate(lines)))}.values())[::-1]
        stored = {
            model: [line["snapshot"] for line in unique if line.get("model") == model]
            for model in ("blocked_action", "approval_request")
        }
        events = sorted((line for line in unique if "record" not in line), key=lambda event: event["seq"])
        runs = [line for line in unique if line.get("record") == "run"]
        return cls(events, runs, stored["blocked_action"], stored["approval_request"], unique)

    def newest(self, kind: str) -> Line | None:
        return next((event for event in reversed(self.events) if kind_of(event) == kind), None)

    def oldest(self, kind: str) -> Line | None:
        return next((event for event in self.events if kind_of(event) == kind), None)


def latest(*moments: str | None) -> Any:
    """The last of some moments, or unknown."""
    known = [moment for moment in moments if moment is not None]
    return max(known, key=read) if known else unknown("No line gives a time.")
