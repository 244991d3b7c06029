"""What a document holds, in one walk: the keys of its objects, and its texts.

Several checks ask the same of every line. The last document is remembered, so each line is walked once; what follows
from its keys alone is remembered with its shape, of which there is one for all documents that have it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Keys = tuple[tuple[str, ...], ...]
"""The keys of every object of a document, in the order of the walk."""

T = TypeVar("T")
_KEPT, _LARGE = 4096, 64
"""Shapes that are remembered, and objects in a document beyond which its shape is not worth it."""


class Shape:
    """The keys of a document, and what was asked about them."""

    __slots__ = ("answers", "keys")

    def __init__(self, keys: Keys):
        self.keys = keys
        self.answers: dict[Callable[[Keys], Any], Any] = {}


Glance = tuple[Shape, list[str]]
_known: dict[Keys, Shape] = {}
_last: tuple[Any, Glance] = (None, (Shape(()), []))


def glance(document: Any) -> Glance:
    """The shape of a document, and every text in it that is a value, at whatever depth."""
    global _last
    if _last[0] is document:
        return _last[1]
    keys: list[tuple[str, ...]] = []
    texts: list[str] = []
    waiting: list[Any] = [document]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            keys.append(tuple(value))
            value = value.values()
        for sub in value:
            kind = type(sub)
            if kind is str:
                texts.append(sub)
            elif kind is dict or kind is list:
                waiting.append(sub)
    found = _shape(tuple(keys)), texts
    _last = (document, found)
    return found


def _shape(keys: Keys) -> Shape:
    shape = _known.get(keys)
    if shape is None:
        shape = Shape(keys)
        if len(keys) <= _LARGE:
            if len(_known) >= _KEPT:
                _known.clear()
            _known[keys] = shape
    return shape


def remembered(ask: Callable[[Keys], T], shape: Shape) -> T:
    """What a question about the keys of a shape is answered with; asked once."""
    answers = shape.answers
    if ask not in answers:
        answers[ask] = ask(shape.keys)
    return answers[ask]
