"""What the events and records of RunAgents say, read with care."""

from __future__ import annotations

from validator.protocol.formats import parse_date_time
from validator.protocol.honest import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

APPROVALS = ("APPROVAL_REQUIRED", "APPROVED", "REJECTED")


def unknown(reason: str) -> dict[str, str]:
    """The honest value for what no line gives."""
    return {"honest": "unknown", "reason": reason}


def later(one: Any, other: Any) -> str | None:
    """The later of two time stamps, as it was written; a time that cannot be read counts for nothing."""
    first, second = (parse_date_time(text) if isinstance(text, str) else None for text in (one, other))
    if first is None or second is None:
        return one if first is not None else other
    return other if second >= first else one


def bare_hash(value: Any) -> str | None:
    """A payload hash without its prefix; None when there is no known hash."""
    value = known(value)
    return value.removeprefix("sha256:") if isinstance(value, str) else None


def data_of(event: dict[str, Any]) -> dict[str, Any]:
    """The details of an event."""
    data = event.get("data")
    return data if isinstance(data, dict) else {}


def vocabulary_of(protocol: Any) -> dict[str, str]:
    """Every word of the log with the vocabulary it belongs to: operations, api or shared."""
    words: dict[str, set[str]] = {}
    for row in protocol.tables["events"]["rows"]:
        for side in ("operations", "api"):
            for name in row["values"][side]:
                words.setdefault(name, set()).add(side)
    return {name: "shared" if len(sides) == 2 else next(iter(sides)) for name, sides in words.items()}


def mixture(vocabularies: set[str]) -> str | None:
    """The one word for a set of vocabularies."""
    if {"operations", "api"} <= vocabularies:
        return "mixed"
    own = vocabularies - {"shared"}
    return next(iter(own), "shared") if vocabularies else None
