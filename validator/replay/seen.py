"""Flat tables that remember much in little: a digest of a name, what is noted about it, and a line.

An event that comes again has to be told from an id used for another body, however long ago the first came, so what is
remembered of events grows with the length of a stream: at most 40 bytes each (`SeenEvents`). What is remembered of a
subject that is over and has not been heard of for long is smaller (`Noted`, 28 bytes at most). Both are open-addressed
tables in three flat arrays, between one half and three quarters full.
"""

from __future__ import annotations

from array import array

from validator.protocol.digest import blake2b

_FIRST = 1024


class SeenEvents:
    """Identity to body and line."""

    _BODY = "Q"

    def __init__(self) -> None:
        self._count = 0
        self._make(_FIRST)

    def _make(self, size: int) -> None:
        self._size = size
        self._keys, self._lines = array("Q", bytes(8 * size)), array("I", bytes(4 * size))
        self._bodies = array(self._BODY, bytes(array(self._BODY).itemsize * size))

    def meet(self, key: int, body: int, line: int) -> tuple[int, int] | None:
        """The body and line first met under a key; None the first time, which is then remembered."""
        slot = self._slot(key)
        if self._lines[slot]:
            return self._bodies[slot], self._lines[slot] - 1
        self._put(slot, key, body, line + 1)
        self._count += 1
        if self._count * 4 > self._size * 3:
            self._grow()
        return None

    def note(self, key: int, body: int, line: int) -> None:
        """Remembers a body and line in place of those met before."""
        if self.meet(key, body, line) is not None:
            self._put(self._slot(key), key, body, line + 1)

    def get(self, key: int) -> tuple[int, int] | None:
        """The body and line remembered under a key."""
        slot = self._slot(key)
        return (self._bodies[slot], self._lines[slot] - 1) if self._lines[slot] else None

    def _slot(self, key: int) -> int:
        """Where a key stands, or the free slot where it would."""
        keys, lines, size = self._keys, self._lines, self._size
        slot = key % size
        while lines[slot] and keys[slot] != key:
            slot = (slot + 1) % size
        return slot

    def _put(self, slot: int, key: int, body: int, mark: int) -> None:
        # A mark of zero is a free slot, so lines are kept one higher than they are.
        self._keys[slot], self._bodies[slot], self._lines[slot] = key, body, mark

    def _grow(self) -> None:
        keys, bodies, lines = self._keys, self._bodies, self._lines
        self._make(self._size * 3 // 2)
        for key, body, mark in zip(keys, bodies, lines, strict=True):
            if mark:
                self._put(self._slot(key), key, body, mark)

    @property
    def bytes_used(self) -> int:
        return sum(table.itemsize * len(table) for table in (self._keys, self._bodies, self._lines))

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
