"""What a document holds, in one walk: the keys of its objects, and its texts.

Several checks ask the same of every line. The last document is remembered, so each line is walked once; what follows
from its keys alone can be remembered by its shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Shape = tuple[tuple[str, ...], ...]
"""The keys of every object of a document, in the order of the walk."""
Glance = tuple[Shape, list[str]]

T = TypeVar("T")
_KEPT, _LARGE = 4096, 64
"""Shapes that are remembered, and objects in a document beyond which its shape is not worth it."""
_known: dict[tuple[Callable[..., Any], Shape], Any] = {}
_last: tuple[Any, Glance] = (None, ((), []))


def glance(document: Any) -> Glance:
    """The shape of a document, and every text in it that is a value, at whatever depth."""
    global _last
    if _last[0] is document:
        return _last[1]
    shape: list[tuple[str, ...]] = []
    texts: list[str] = []
    waiting: list[Any] = [document]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            shape.append(tuple(value))
            value = value.values()
        for sub in value:
            kind = type(sub)
            if kind is str:
                texts.append(sub)
            elif kind is dict or kind is list:
                waiting.append(sub)
    found = tuple(shape), texts
    _last = (document, found)
    return found


def remembered(ask: Callable[[Shape], T], shape: Shape) -> T:
    """What a question about a shape is answered with; asked once."""
    if len(shape) > _LARGE:
        return ask(shape)
    key = (ask, shape)
    if key not in _known:
        if len(_known) >= _KEPT:
            _known.clear()
        _known[key] = ask(shape)
    return _known[key]
