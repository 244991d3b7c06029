"""Reads fields of lines that may have any shape: a capture is judged whether or not it fits its schemas."""

from __future__ import annotations

from collections.abc import Hashable

from validator.capture.encode import sorted_bytes

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


def mark(value: Any) -> Hashable:
    """A value by which something can be looked up; equal ones have equal marks."""
    return (sorted_bytes(value),) if isinstance(value, list | dict) else value
