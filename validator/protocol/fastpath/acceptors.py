"""Acceptors that were written before: functions from kept code, without the compiler that wrote it."""

from __future__ import annotations

from collections.abc import Callable

from validator.protocol.formats import is_date_time, plain_instant
from validator.protocol.regex import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Accept = Callable[[object], object]


def scope_of_all() -> dict[str, Any]:
    """What the code of all acceptors calls."""
    return {"instant": plain_instant(), "is_date_time": is_date_time}


def restore(kept: dict[str, Any]) -> dict[str, Accept]:
    """The acceptors that were written, by reference."""
    scope = {**scope_of_all(), **kept["words"]}
    for name, pattern in kept["patterns"].items():
        scope[name] = _late(scope, name, pattern)
    exec(kept["code"], scope)
    return {reference: scope[name] for reference, name in kept["entries"].items()}


def _late(scope: dict[str, Any], name: str, pattern: str) -> Accept:
    """The search for a pattern that is compiled when it is first needed, and stands for itself from then on."""

    def search(text: str) -> object:
        found = scope[name] = compiled(pattern).search
        return found(text)

    return search
