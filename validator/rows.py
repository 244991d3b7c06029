"""Lines of a stream that follow one another, by what fills their holes: how far they go on from the line before.

Asked of many lines at once: the next sequence, a time that does not run back, a text that goes on where the last ended.
What is not certain ends the row; the line in question is then looked at alone.
"""

from __future__ import annotations

from validator.capture.encode import escaped
from validator.holes import NAMES, goes_on, is_count

Holes = tuple[bytes, ...]
"""What fills the holes of a line, those of `holes.NAMES` first."""
_SEQUENCE, _STAMP, _, _TEXT, _GROWS, _SIZE = range(len(NAMES))


def going_on(lines: list[Holes], stamp: bytes, position: int, first: int) -> tuple[list[Holes], list[int]]:
    """Of lines those that go on, their texts as our own writer escapes them; and their positions, where they have any.

    They come after a line with some time and position, and the first of them has to have some sequence.
    """
    expected = [b"%d" % number for number in range(first, first + len(lines))]
    lines = lines[: _common([line[_SEQUENCE] for line in lines], expected)]
    for count, line in enumerate(lines):
        if line[_STAMP] != stamp:
            if not goes_on(stamp, line[_STAMP]):
                lines = lines[:count]
                break
            stamp = line[_STAMP]
    lines = _escaped(lines)
    if not lines or not (lines[0][_GROWS] or lines[0][_SIZE]):
        return lines, []
    positions: list[int] = []
    for line in lines:
        found = reached(position, line[_GROWS], line[_SIZE], line[_TEXT])
        if found is None:
            break
        position = found
        positions.append(found)
    return lines[: len(positions)], positions


def reached(before: int, grows: bytes, size: bytes, text: bytes) -> int | None:
    """The position that a text has, which is beyond the last; None when it is not, or when the size is another."""
    if size and size != b"%d" % (len(text) - text.count(b"\\") + text.count(b"\\\\")):
        return None  # of an escape one byte is a sign, and of two signs in a row the second is what is meant
    position = int(grows) if is_count(grows) else -1
    return position if position > before or not grows else None


def _common(one: list[bytes], two: list[bytes]) -> int:
    """How many entries two lists have in common before they differ."""
    if one == two:
        return len(one)
    return next(place for place, (left, right) in enumerate(zip(one, two, strict=True)) if left != right)


def _escaped(lines: list[Holes]) -> list[Holes]:
    texts = b" ".join([line[_TEXT] for line in lines])
    if b"\\" not in texts or (b"\\u" not in texts and b"\\/" not in texts):
        return lines
    return [(*line[:_TEXT], escaped(line[_TEXT]), *line[_TEXT + 1 :]) for line in lines]
