"""Respells the keys of documents, layout by layout.

How a document is respelt follows from its schema and its keys (`casing.py`), and takes a walk along both. Documents of
one layout (`glance.py`) have the same keys in the same places, so the walk is done for one of them, and the others are
given the same names.
"""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Respelling = Callable[[object], object]


def respelling(document: Any, spelt: Any) -> Respelling | None:
    """What makes one document of the other, and does the same to all of its layout; None where no key is another."""
    if isinstance(document, list):
        each = [respelling(*pair) for pair in zip(document, spelt, strict=True)]
        return _Elements(each) if any(each) else None
    if not isinstance(document, dict):
        return None
    below = []
    for value, (name, sub) in zip(document.values(), spelt.items(), strict=True):
        found = respelling(value, sub)
        if found is not None:
            below.append((name, found))
    return _Properties(tuple(spelt), below) if below or tuple(document) != tuple(spelt) else None


class _Properties:
    """Gives the properties of an object their names."""

    __slots__ = ("_below", "_names")

    def __init__(self, names: tuple[str, ...], below: list[tuple[str, Respelling]]):
        self._names, self._below = names, below

    def __call__(self, value: dict[str, Any]) -> dict[str, Any]:
        spelt = dict(zip(self._names, value.values(), strict=True))
        for name, respell in self._below:
            spelt[name] = respell(spelt[name])
        return spelt


class _Elements:
    """Respells those elements of an array that need it."""

    __slots__ = ("_each",)

    def __init__(self, each: list[Respelling | None]):
        self._each = each

    def __call__(self, value: list[Any]) -> list[Any]:
        pairs = zip(self._each, value, strict=True)
        return [element if respell is None else respell(element) for respell, element in pairs]
