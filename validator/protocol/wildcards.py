"""Names that a pattern with wildcards fits."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

SIGNS = frozenset("*?[")


def is_pattern(word: str) -> bool:
    """True when a word may fit names beside itself."""
    return not SIGNS.isdisjoint(word)


def fitting(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that fit, in their order; a beginning is compared, because most patterns are one."""
    if pattern.endswith("*") and not is_pattern(pattern[:-1]):
        return [name for name in names if name.startswith(pattern[:-1])]
    return [name for name in names if fnmatch.fnmatchcase(name, pattern)]
