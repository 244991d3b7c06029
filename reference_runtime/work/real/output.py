"""One output stream of a process: lines are told as they come, and what is too much for events is stored.

A stream begins inline, line by line. Once a line, or all lines together, are over the budget, nothing more travels in
events: the whole stream, beginning included, goes into one stored file, up to a limit. How much there was is counted
to the end.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from reference_runtime.redaction import Mask
from reference_runtime.work.real.contents import Contents, Stored
from reference_runtime.work.real.safe_text import SafeText

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_LINES = 64
_MOST_BUDGETS = 16
"""How many lines, and how many times the budget of one event, a stream may tell inline."""
_FIRST_PROGRESS = 1 << 16


@dataclass(frozen=True, slots=True)
class Line:
    """Text that travels in an event."""

    stream: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Progress:
    """So much was stored by now."""

    stream: str
    size: int


@dataclass(frozen=True, slots=True)
class Spill:
    """A whole stream, stored; its beginning may have been told before."""

    stream: str
    offset: int
    """Where the part begins that is told now."""
    stored: Stored
    size: int
    """How much there was of the whole; more than what is stored when a part was dropped."""
    preview: str
    hidden: tuple[str, ...]


Unit = Line | Progress | Spill


class Output:
    """One stream; units to be told are appended to a queue that the streams of a process share."""

    def __init__(self, stream: str, mask: Mask, contents: Contents, budget: int, limit: int, units: deque[Unit]):
        self._stream, self._contents, self._budget, self._limit = stream, contents, budget, limit
        self._safe, self._units = SafeText(mask), units
        self._offset, self._lines, self._begun = 0, 0, ""
        self._incoming, self._next = None, _FIRST_PROGRESS
        self.head = ""
        """The text that was told inline."""
        self.size = 0
        """How much was written by now, in bytes."""

    @property
    def preview(self) -> str:
        """The beginning of the stream."""
        return self._begun or self.head[: self._budget]

    def feed(self, data: bytes) -> None:
        self._take(self._safe.feed(data))

    def end(self) -> None:
        """Takes in what is held back; when it returns, what was stored is durable."""
        self._take(self._safe.end())
        if self._incoming is not None:
            stored = self._incoming.keep()
            hidden = tuple(sorted(self._safe.kinds))
            self._units.append(Spill(self._stream, self._offset, stored, self.size, self.preview, hidden))
            self._incoming = None

    def drop(self) -> None:
        """Gives up what was not stored yet."""
        if self._incoming is not None:
            self._incoming.drop()
            self._incoming = None

    def _take(self, text: str) -> None:
        lines = _LINE.findall(text) if self._incoming is None else []
        for place, line in enumerate(lines):
            if not self._fits(line):
                self._incoming, self.size = self._contents.incoming(), 0
                self._store(self.head + "".join(lines[place:]))
                return
            self._units.append(Line(self._stream, self._offset, line))
            self._lines += 1
            self.head += line
            self._offset = self.size = self._offset + len(line.encode("utf-8", "replace"))
        if self._incoming is not None and text:
            self._store(text)

    def _fits(self, line: str) -> bool:
        whole = len(self.head) + len(line)
        return len(line) <= self._budget and self._lines < _MOST_LINES and whole <= self._budget * _MOST_BUDGETS

    def _store(self, text: str) -> None:
        self._begun = (self._begun + text[: self._budget])[: self._budget]
        data = text.encode("utf-8", "replace")
        room = max(0, self._limit - self.size)
        self._incoming.add(data[:room].decode("utf-8", "ignore"))
        self.size += len(data)
        while self.size >= self._next:
            self._units.append(Progress(self._stream, self._next))
            self._next *= 4
