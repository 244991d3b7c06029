"""Names that a pattern with wildcards fits."""

from __future__ import annotations

from collections.abc import Iterable

SIGNS = frozenset("*?[")


def is_pattern(word: str) -> bool:
    """True when a word may fit names beside itself."""
    return not SIGNS.isdisjoint(word)


def fitting(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that fit, in their order; a beginning is compared, because most patterns are one."""
    if pattern.endswith("*") and not is_pattern(pattern[:-1]):
        return [name for name in names if name.startswith(pattern[:-1])]
    if "*" in pattern and SIGNS.isdisjoint(pattern.replace("*", "")):
        first, *middle, last = pattern.split("*")
        return [name for name in names if _holds(name, first, middle, last)]
    import fnmatch  # few patterns are more

    return [name for name in names if fnmatch.fnmatchcase(name, pattern)]


def _holds(name: str, first: str, middle: list[str], last: str) -> bool:
    """True for a name that begins and ends so, and holds the other parts between them in their order."""
    place, end = len(first), len(name) - len(last)
    if place > end or not (name.startswith(first) and name.endswith(last)):
        return False
    for part in middle:
        found = name.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True
