"""Flat tables that remember much in little: a digest of a name, what is noted about it, and a line.

An event that comes again has to be told from an id used for another body, however long ago the first came, so what is
remembered of events grows with the length of a stream: about 33 bytes each (`SeenEvents`). What is remembered of a
subject that is over and has not been heard of for long is smaller (`Noted`, about 23 bytes). Both are divided into
open-addressed tables in three flat arrays, each between one half and three quarters full. They begin in different
sizes, so they grow one after another: what all of them take rises evenly, and growing needs little beside it.
"""

from __future__ import annotations

from array import array

from validator.protocol.digest import blake2b

_PARTS = 16
_PART, _LOW = _PARTS.bit_length() - 1, _PARTS - 1
_FIRST = 64
_GROWTH = 1.5
_SIZES = [int(_FIRST * _GROWTH ** (part / _PARTS)) for part in range(_PARTS)]
"""Places of each part at first: spread over one growth, so that no two of them are full at the same time."""


class _Part:
    """The entries of some keys; the bits by which parts are told apart are the same in all of them."""

    __slots__ = ("_bodies", "_body", "_count", "_keys", "_lines", "_size")

    def __init__(self, body: str, size: int):
        self._body, self._count = body, 0
        self._make(size)

    def _make(self, size: int) -> None:
        self._size = size
        self._keys, self._lines = array("Q", bytes(8 * size)), array("I", bytes(4 * size))
        self._bodies = array(self._body, bytes(array(self._body).itemsize * size))

    def meet(self, key: int, body: int, line: int) -> tuple[int, int] | None:
        # Asked of every event, so the slot is looked for here and not in `_slot`.
        keys, lines, size = self._keys, self._lines, self._size
        slot = (key >> _PART) % size
        while mark := lines[slot]:
            if keys[slot] == key:
                return self._bodies[slot], mark - 1
            slot = slot + 1 if slot + 1 < size else 0
        keys[slot], self._bodies[slot], lines[slot] = key, body, line + 1
        self._count += 1
        if self._count * 4 > size * 3:
            self._grow()
        return None

    def replace(self, key: int, body: int, line: int) -> None:
        self._put(self._slot(key), key, body, line + 1)

    def get(self, key: int) -> tuple[int, int] | None:
        slot = self._slot(key)
        return (self._bodies[slot], self._lines[slot] - 1) if self._lines[slot] else None

    def _slot(self, key: int) -> int:
        """Where a key stands, or the free slot where it would."""
        keys, lines, size = self._keys, self._lines, self._size
        slot = (key >> _PART) % size
        while lines[slot] and keys[slot] != key:
            slot = (slot + 1) % size
        return slot

    def _put(self, slot: int, key: int, body: int, mark: int) -> None:
        # A mark of zero is a free slot, so lines are kept one higher than they are.
        self._keys[slot], self._bodies[slot], self._lines[slot] = key, body, mark

    def _grow(self) -> None:
        old = zip(self._keys, self._bodies, self._lines, strict=True)
        self._make(int(self._size * _GROWTH))
        keys, bodies, lines, size = self._keys, self._bodies, self._lines, self._size
        for key, body, mark in old:
            if mark:
                slot = (key >> _PART) % size
                while lines[slot]:
                    slot = slot + 1 if slot + 1 < size else 0
                keys[slot], bodies[slot], lines[slot] = key, body, mark

    @property
    def bytes_used(self) -> int:
        return sum(table.itemsize * len(table) for table in (self._keys, self._bodies, self._lines))


class SeenEvents:
    """Identity to body and line."""

    _BODY = "Q"

    def __init__(self) -> None:
        self._count = 0
        self._parts = [_Part(self._BODY, size) for size in _SIZES]

    def meet(self, key: int, body: int, line: int) -> tuple[int, int] | None:
        """The body and line first met under a key; None the first time, which is then remembered."""
        found = self._parts[key & _LOW].meet(key, body, line)
        if found is None:
            self._count += 1
        return found

    def note(self, key: int, body: int, line: int) -> None:
        """Remembers a body and line in place of those met before."""
        if self.meet(key, body, line) is not None:
            self._parts[key & _LOW].replace(key, body, line)

    def get(self, key: int) -> tuple[int, int] | None:
        """The body and line remembered under a key."""
        return self._parts[key & _LOW].get(key)

    @property
    def bytes_used(self) -> int:
        return sum(part.bytes_used for part in self._parts)

    def __len__(self) -> int:
        return self._count


class Noted(SeenEvents):
    """Name to one of a few words, by its number, and a line."""

    _BODY = "H"


def short(text: str) -> int:
    """A digest of a name."""
    return hashed(text.encode("utf-8", "surrogatepass"))


def hashed(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")
