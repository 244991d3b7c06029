"""Words of streamed text that are harmless in whatever company: nothing leaks and nothing hides in a text made of them.

Text comes in pieces of a few words, and mostly of words that came before. So instead of every piece, every new word is
looked at, once. That this decides the same as the exact scan rests on what a find needs: a row with needles finds
something only where one of them stands, a row without needles only in a long run of letters and digits, a variable is
given a value only before an equals sign, and a text says that something is hidden only by certain words or by three
signs in a row. None of these holds a space, or else the longest part of it that holds none is looked for. Whatever a
piece holds, a word of it holds; and a word in which something else could be read, by an escape or by one of the letters
that equal others when case is ignored, is not harmless.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from validator.readings import Row
from validator.sieve import SHAPE, SHORT, Needles, is_random, keep

if TYPE_CHECKING:
    from validator.redact import Vocabulary

_LONG = 2_048
"""Bytes of a text whose words are looked at; one look at the whole of a longer one costs less."""
_ENDS = (b'\\"', b"\\t", b"\\r")
"""What beside the end of a line stands between words, as it is written in JSON."""
_HIDING = {"redact", "mask", "hidden", "withheld", "removed", "filtered", "scrubbed", "omitted", "sanitized", "secret"}
"""What a text that says that something is hidden holds, unless it is made of signs."""
_ODD = re.compile(
    rb'["\\\x00-\x1f]|%[0-9A-Fa-f]{2}|[A-Z][A-Z0-9_]+=|[*xX.-]{3}'
    rb"|\xe2\x80[\xa2\xa6]|\xe2\x96\x88|\xc4[\xb0\xb1]|\xc5\xbf|\xe2\x84\xaa"
)
"""What is no text of JSON, a sign that is read as another, a variable, or signs that say that something is hidden."""


class Words:
    """The harmless words, and ids, of one kind of place."""

    def __init__(self, rows: Iterable[Row]):
        rows = tuple(rows)
        parts = {max(needle.split(), key=len) for row in rows for needle in row.needles}
        self._needles = Needles(parts.union(_HIDING))
        self._bare = [row for row in rows if not row.needles]
        self._known: set[bytes] = set()
        self._names: set[bytes] = set()

    def make(self, text: bytes) -> bool:
        """True when a text, as it is written in JSON, certainly is one, leaks nothing and hides nothing."""
        text = _spaced(text) if b"\\" in text else text
        words = text.split(b" ")
        if self._known.issuperset(words):
            return text != b""
        return len(text) <= _LONG and self._learn([word for word in words if word not in self._known])

    def make_all(self, texts: list[bytes]) -> bool:
        """The same of several texts, none of which is empty: no word reaches from one into the next."""
        if b"" in texts:
            return False
        words = _spaced(b" ".join(texts)).split(b" ")
        if self._known.issuperset(words):
            return True
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        return sum(map(len, new)) <= _LONG and self._learn(new)

    def _learn(self, words: list[bytes]) -> bool:
        joined = b" ".join(words)
        if self._tells(joined) or any(is_random(joined, row) for row in self._bare):
            return False
        for word in words:
            if len(word) <= SHORT:
                keep(self._known, word)
        return joined != b""

    def name(self, event_id: bytes) -> bool:
        """True when an id, as it is written in JSON, certainly is one, leaks nothing and hides nothing."""
        shape = event_id.translate(SHAPE)
        if shape in self._names:
            return True
        # An equals sign gives a value to a variable, and only in capitals, which a shape does not tell.
        if not 0 < len(shape) <= SHORT or b"=" in shape or self._tells(event_id):
            return False
        keep(self._names, shape)
        return True

    def name_all(self, ids: list[bytes]) -> bool:
        """The same of several ids."""
        shapes = b'"'.join(ids).translate(SHAPE).split(b'"')
        if len(shapes) != len(ids):
            return False  # one of them holds the sign that ends it
        if self._names.issuperset(shapes):
            return True
        new = b" ".join([name for name, shape in zip(ids, shapes, strict=True) if shape not in self._names])
        return b"" not in ids and max(map(len, ids)) <= SHORT and b"=" not in new and not self._tells(new)

    def _tells(self, text: bytes) -> bool:
        """True unless certainly nothing can be read in a text by any row that has needles, and it is text at all."""
        shape = text.translate(SHAPE).replace(b"://", b":")
        return _ODD.search(text) is not None or self._needles.occur_in(shape) or not _is_utf8(text)


def _spaced(text: bytes) -> bytes:
    """A text, as it is written in JSON, with spaces where words end.

    Of a backslash that is itself escaped one is left over, and no word with a backslash is harmless.
    """
    text = text.replace(b"\\n", b" ")
    for end in _ENDS if b"\\" in text else ():
        text = text.replace(end, b" ")
    return text


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@functools.lru_cache(maxsize=16)
def harmless(vocabulary: Vocabulary, place: str) -> Words:
    """The words that are harmless in a place; all captures of a protocol share them."""
    return Words(vocabulary.rows[place])
