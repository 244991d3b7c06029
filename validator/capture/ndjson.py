"""Bytes of a capture to lines: limits, encodings, cut-off tails, line numbers and byte offsets.

Whatever is wrong with a line becomes a named `Problem`, never an exception. Some problems leave a document to judge
(a byte order mark, a key that occurs twice), some do not (half a line, bytes that are no UTF-8); the lines after it
are read all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from validator.capture.decode import decoder
from validator.jsontext import reader
from validator.protocol.regex import compiled
from validator.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

_BOM = b"\xef\xbb\xbf"
_SAFE_INTEGER = 2**53
_LARGEST = int(sys.float_info.max)
_MOST_DIGITS = 310
_CHUNK = 1 << 16
DEEPEST = 256
"""How deep a line may nest at most: what looks into a document goes down with it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how deep a line may be before it is reported instead of read."""

    line_bytes: int = 16 * 1024 * 1024
    depth: int = 128


@dataclass(frozen=True, slots=True)
class Problem:
    """One named fault in the framing of a line."""

    name: str
    pointer: str = ""
    byte: int | None = None


@dataclass(slots=True)
class Line:
    """One line: where it stands, what it holds, and what is wrong with how it is written."""

    number: int
    offset: int
    size: int
    document: Any = None
    problems: list[Problem] = field(default_factory=list)
    ended: bool = True
    """It ends in a line feed. A last line that does not was possibly cut."""
    raw: bytes | None = None
    """The bytes that the document was read from."""
    torn: bool = False
    """It says in two ways what it is, what it is about or how that ended, and readers disagree about which counts."""

    @property
    def readable(self) -> bool:
        return isinstance(self.document, dict)


class Splitter:
    """Cuts bytes into lines, and never holds more of a line than its limit."""

    def __init__(self, limits: Limits):
        self._limits = limits
        self.passes: Callable[[bytes, int, int], bool] | None = None
        """Says of a line's bytes, number and offset that it needs not be read."""
        self.passes_on: Callable[[bytes, int, int, int], tuple[int, int]] | None = None
        """Says of bytes in which a line that needs not be read ends at some place, of the number and offset of the next
        line, how many of those that follow need not be read either, and at which place they end."""
        self.passed = 0
        """Lines that were not."""
        self._decode, self._careful = decoder(), _decoder()
        self._buffer = bytearray()
        self._dropped = 0
        self._number = 0
        self._offset = 0

    def feed(self, data: bytes) -> Iterator[Line]:
        """The lines that these bytes complete."""
        start, longest = 0, self._limits.line_bytes
        while (end := data.find(b"\n", start)) != -1:
            if self._dropped or end - start + len(self._buffer) > longest:
                self._take(data[start:end])
                yield self._cut(ended=True)
            else:
                raw = data[start:end]
                if self._buffer:
                    raw = bytes(self._buffer) + raw
                    self._buffer.clear()
                passes = self.passes
                if passes is not None and passes(raw, self._number + 1, self._offset):
                    self._number += 1
                    self._offset += len(raw) + 1
                    self.passed += 1
                    start = self._pass_on(data, end + 1)
                    continue
                yield self._line(raw, 0, ended=True)
            start = end + 1
        if start < len(data):
            self._take(data[start:])

    def _pass_on(self, data: bytes, start: int) -> int:
        """Leaves out lines that follow one that needs not be read; where the next begins."""
        passes_on = self.passes_on
        while passes_on is not None:
            count, end = passes_on(data, start, self._number + 1, self._offset)
            if not count:
                break
            self._number += count
            self._offset += end - start
            self.passed += count
            start = end
        return start

    def close(self) -> Iterator[Line]:
        """The last line, if it has no line feed."""
        if self._buffer or self._dropped:
            yield self._cut(ended=False)

    def _take(self, data: bytes) -> None:
        room = self._limits.line_bytes - len(self._buffer)
        self._buffer += data[: max(room, 0)]
        self._dropped += max(len(data) - max(room, 0), 0)

    def _cut(self, ended: bool) -> Line:
        raw, dropped = bytes(self._buffer), self._dropped
        self._buffer.clear()
        self._dropped = 0
        return self._line(raw, dropped, ended)

    def _line(self, raw: bytes, dropped: int, ended: bool) -> Line:
        self._number += 1
        size = len(raw) + dropped
        document = None if dropped or self._decode is None else self._decode(raw, self._limits.depth)
        line = Line(self._number, self._offset, size, document, [], ended, raw)
        self._offset += size + ended
        if dropped:
            line.problems.append(Problem("line-too-long"))
        elif document is None:
            _parse(line, raw, self._limits, self._careful)
        return line


def read(stream: BinaryIO, limits: Limits | None = None) -> Iterator[Line]:
    """Every line of a binary stream."""
    splitter = Splitter(limits or Limits())
    while data := stream.read(_CHUNK):
        yield from splitter.feed(data)
    yield from splitter.close()


def _parse(line: Line, raw: bytes, limits: Limits, careful: _Careful) -> None:
    if raw.startswith(_BOM):
        raw = raw[len(_BOM) :]
        line.problems.append(Problem("byte-order-mark"))
    if raw.endswith(b"\r"):
        raw = raw[:-1]
        line.problems.append(Problem("carriage-return"))
    if not raw.strip():
        line.problems.append(Problem("blank-line"))
        return
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line.problems.append(Problem("not-utf8", byte=error.start))
        return
    if _too_deep(raw, limits.depth):
        line.problems.append(Problem("too-deep"))
        return
    decode, noted = careful
    noted.clear()
    try:
        document = decode(text)
    except RecursionError:
        line.problems.append(Problem("too-deep"))
        return
    except ValueError as error:
        import json  # most lines are

        byte = len(text[: error.pos].encode()) if isinstance(error, json.JSONDecodeError) else None
        line.problems.append(Problem("not-json", byte=byte))
        return
    line.problems += noted
    if not isinstance(document, dict):
        line.problems.append(Problem("not-an-object"))
        return
    if b"\\u" in raw and _has_lone_surrogate(document):
        line.problems.append(Problem("lone-surrogate"))
        return
    line.document = document
    line.torn = bool(noted) and Problem("duplicate-key") in noted and _is_torn(text)


def _is_torn(text: str) -> bool:
    import json  # most lines are whole

    entries = json.loads(text, object_pairs_hook=tuple, parse_int=str)
    told = [(key, value) for key, value in entries if key in {"type", "record"} or key.endswith(("_id", "Id"))]
    for inner in (value for key, value in entries if key == "payload" and isinstance(value, tuple)):
        told += [(f"/{key}", value) for key, value in inner if key in {"status", "decision", "operation"}]
    return len({key for key, _ in told}) < len({(key, repr(value)) for key, value in told})


_STRING = rb'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_NO_BRACKET = bytes(byte for byte in range(256) if byte not in b"{}[]")


def _too_deep(raw: bytes, limit: int) -> bool:
    """True when brackets nest deeper than the limit; counted only when there are enough of them to matter."""
    if raw.count(b"{") + raw.count(b"[") <= limit:
        return False
    depth = 0
    for byte in compiled(_STRING).sub(b"", raw).translate(None, _NO_BRACKET):
        depth += 1 if byte in b"{[" else -1
        if depth > limit:
            return True
    return False


_Careful = tuple[Callable[[str], object], list[Problem]]
"""What decodes a text, and what it noted since the list was cleared."""


def _decoder() -> _Careful:
    """A decoder that notes what JSON lets pass: repeated keys, words that are no numbers, integers beyond 2^53.

    What no double can hold is read as null: nothing that follows has to reckon with it.
    """
    found: list[Problem] = []

    def pairs(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(entries)
        if len(document) != len(entries):
            found.append(Problem("duplicate-key"))
        return document

    def constant(_word: str) -> None:
        found.append(Problem("not-a-number"))

    def integer(digits: str) -> int | None:
        # Python refuses to read thousands of digits, and no double holds them.
        value = int(digits) if len(digits) <= _MOST_DIGITS else _LARGEST + 1
        if abs(value) <= _SAFE_INTEGER:
            return value
        found.append(Problem("big-integer" if abs(value) <= _LARGEST else "not-a-number"))
        return value if abs(value) <= _LARGEST else None

    def number(digits: str) -> float | None:
        value = float(digits)
        if value in {float("inf"), float("-inf")}:
            found.append(Problem("not-a-number"))
            return None
        return value

    read = reader(object_pairs_hook=pairs, parse_constant=constant, parse_int=integer, parse_float=number)
    return read, found


def _has_lone_surrogate(value: Any) -> bool:
    waiting = [value]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, str):
            if any("\ud800" <= char <= "\udfff" for char in entry):
                return True
        elif isinstance(entry, dict):
            waiting += entry.keys()
            waiting += entry.values()
        elif isinstance(entry, list):
            waiting += entry
    return False
