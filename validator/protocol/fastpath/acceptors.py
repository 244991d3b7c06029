"""Acceptors that were written before: functions from kept code, without the compiler that wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from validator.protocol.formats import is_date_time, is_plain_instant

Accept = Callable[[Any], object]
SCOPE = {"instant": is_plain_instant, "is_date_time": is_date_time}
"""What the code of all acceptors calls."""


def restore(kept: dict[str, Any]) -> dict[str, Accept]:
    """The acceptors that were written, by reference."""
    scope = {**SCOPE, **kept["words"]}
    for name, pattern in kept["patterns"].items():
        scope[name] = _late(scope, name, pattern)
    exec(kept["code"], scope)
    return {reference: scope[name] for reference, name in kept["entries"].items()}


def _late(scope: dict[str, Any], name: str, pattern: str) -> Accept:
    """The search for a pattern that is compiled when it is first needed, and stands for itself from then on."""

    def search(text: str) -> object:
        found = scope[name] = re.compile(pattern).search
        return found(text)

    return search
