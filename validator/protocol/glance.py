"""What a document holds, in one walk: the keys of its objects, the kinds of its values, and its texts.

Several checks ask the same of every line. The last document is remembered, so each line is walked once; what follows
from its keys alone is remembered with its shape, of which there is one for all documents that have it, and what follows
from its keys and the kinds of its values with its layout.
"""

from __future__ import annotations

from collections.abc import Callable

from validator.protocol.honest import is_honest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

Keys = tuple[tuple[str, ...], ...]
"""The keys of every object of a document, in the order of the walk."""

_KEPT, _LARGE, _LONG = 4096, 64, 512
"""Shapes and layouts that are remembered, and objects and values in a document beyond which they are not worth it."""
_HONEST = "honest"


class Shape:
    """The keys of a document, and what was asked about them."""

    __slots__ = ("answers", "keys")

    def __init__(self, keys: Keys):
        self.keys = keys
        self.answers: dict[Callable[[Keys], Any], Any] = {}


class Layout:
    """The shape of a document, the kind of every value in it and which of its objects are honest statements.

    Documents of one layout have their texts in the same places: the walk can be retraced from it.
    """

    __slots__ = ("answers", "shape")

    def __init__(self, shape: Shape):
        self.shape = shape
        self.answers: dict[Any, Any] = {}
        """What was asked about it, by who asked."""


Glance = tuple[Shape, list[str], Layout]
_known: dict[Keys, Shape] = {}
_layouts: dict[tuple[Keys, tuple[Any, ...]], Layout] = {}
_last: tuple[Any, Glance] = (None, (Shape(()), [], Layout(Shape(()))))


def glance(document: Any) -> Glance:
    """The shape of a document, every text in it that is a value, at whatever depth, and its layout."""
    global _last
    if _last[0] is document:
        return _last[1]
    keys: list[tuple[str, ...]] = []
    kinds: list[Any] = []
    texts: list[str] = []
    waiting: list[Any] = [document]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            keys.append(tuple(value))
            if _HONEST in value and is_honest(value):
                kinds.append(_HONEST)
            value = value.values()
        else:
            kinds.append(len(value))
        kinds += map(type, value)
        for sub in value:
            kind = type(sub)
            if kind is str:
                texts.append(sub)
            elif kind is dict or kind is list:
                waiting.append(sub)
    mark = (tuple(keys), tuple(kinds))
    layout = _layouts.get(mark) or _layout(mark)
    found = layout.shape, texts, layout
    _last = (document, found)
    return found


def _layout(mark: tuple[Keys, tuple[Any, ...]]) -> Layout:
    keys, kinds = mark
    layout = Layout(_shape(keys))
    if len(keys) <= _LARGE and len(kinds) <= _LONG:
        if len(_layouts) >= _KEPT:
            _layouts.clear()
        _layouts[mark] = layout
    return layout


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
