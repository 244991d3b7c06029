"""What a process writes, made safe piece by piece: a leak that comes in two reads is hidden like any other.

Text is let go in whole lines. A line is held back as long as what follows can make it the beginning of a leak: it is
not finished, it holds a word that a secret over several lines begins with, or a match reaches its end. Nothing is let
go because time passes.
"""

from __future__ import annotations

import codecs

from reference_runtime.patterns import leaks, tables
from reference_runtime.redaction import Mask

_LINES = 6
"""How many lines after a word that may begin a secret the secret can still come."""
_LONGEST = 1 << 16
"""How much is held back at most."""
_TAIL = 4096
_HEAD = 200
"""How much of a leak that does not end is kept, so that its rest is recognised."""


class SafeText:
    """One stream of bytes on its way to becoming text that can be told."""

    def __init__(self, mask: Mask):
        self._mask, self._held = mask, ""
        self._words = (*tables().crossing, *mask.begins())
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.kinds: set[str] = set()
        """What was hidden so far."""

    def feed(self, data: bytes) -> str:
        """Takes bytes in, and gives the text that can be told now."""
        self._held += self._decoder.decode(data)
        told = self._released(_cut(self._held, self._words))
        while len(self._held) > _LONGEST:
            told += self._forced()
        return told

    def end(self) -> str:
        """Everything that is still held back; nothing follows it any more."""
        self._held += self._decoder.decode(b"", final=True)
        return self._released(len(self._held))

    def _released(self, cut: int) -> str:
        piece, self._held = self._held[:cut], self._held[cut:]
        text, kinds = self._mask(piece)
        self.kinds |= kinds
        return text

    def _forced(self) -> str:
        """Lets go of text that is too long to be held; a leak that it is inside of stays hidden."""
        cut = _between_words(self._held, len(self._held) - _TAIL)
        for start, end, _ in leaks(self._held):
            if start < cut < end and start:
                return self._released(start)
            if start < cut < end:
                head = self._held[:_HEAD]
                told = self._released(end)
                self._held = head + self._held
                return told
        return self._released(cut)


def _cut(text: str, words: tuple[str, ...]) -> int:
    """How much of a text can be told whatever follows: up to the end of a line, and before whatever may go on."""
    cut = text.rfind("\n") + 1
    if not cut:
        return 0
    recent = _line_start(text, cut, _LINES)
    lowered = text.lower()
    places = [lowered.find(word, recent) for word in words]
    places += [start for start, end, _ in leaks(text) if end > cut or not text[end:].strip()]
    opened = min((place for place in places if place >= 0), default=cut)
    return min(cut, text.rfind("\n", 0, opened) + 1)


def _line_start(text: str, end: int, lines: int) -> int:
    """Where the last so many lines that hold something begin."""
    while lines and end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        lines -= bool(text[start:end].strip())
        end = start
    return end


def _between_words(text: str, near: int) -> int:
    """The end of a word before a place, or the place itself where there is none."""
    found = max(text.rfind(mark, near - _TAIL, near) for mark in " \n\t")
    return found + 1 if found > 0 else near
