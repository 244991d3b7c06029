"""Reads fields of lines that may have any shape: a capture is judged whether or not it fits its schemas."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def word(mapping: Any, name: str) -> str | None:
    """The text a field holds, or None when there is none."""
    value = mapping.get(name) if isinstance(mapping, dict) else None
    return value if isinstance(value, str) else None


def number(mapping: Any, name: str) -> int | None:
    """The whole number a field holds, or None when there is none."""
    value = mapping.get(name) if isinstance(mapping, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
