"""Flat tables that remember much in little: a digest of a name, what is noted about it, and a line.

An event that comes again has to be told from an id used for another body, however long ago the first came, so what is
remembered of events grows with the length of a stream: about 22 bytes each (`SeenEvents`). What is remembered of a
subject that is over and has not been heard of for long is smaller (`Noted`, about 15 bytes). Both are divided into
parts by the first bits of the digests; a part is three flat arrays in the order of its keys. Digests are spread evenly,
so parts are about equally long, and when they are long on the average, each is cut in two.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable

from validator.protocol.digest import blake2b

_BITS = 64
_LONG = 320
"""Entries of a part, on the average, above which parts are cut in two."""


class SeenEvents:
    """Identity to body and line."""

    _BODY = "Q"
    _FIRST = 3
    """Bits by which parts are told apart at first."""

    def __init__(self) -> None:
        self._count, self._shift = 0, _BITS - self._FIRST
        parts = range(1 << self._FIRST)
        self._keys, self._lines = [array("Q") for _ in parts], [array("I") for _ in parts]
        self._bodies = [array(self._BODY) for _ in parts]

    def meet(self, key: int, body: int, line: int) -> tuple[int, int] | None:
        """The body and line first met under a key; None the first time, which is then remembered."""
        part = key >> self._shift
        keys = self._keys[part]
        place = bisect_left(keys, key)
        if place < len(keys) and keys[place] == key:
            return self._bodies[part][place], self._lines[part][place]
        keys.insert(place, key)
        self._bodies[part].insert(place, body)
        self._lines[part].insert(place, line)
        self._count += 1
        if self._count > _LONG * len(self._keys):
            self._divide()
        return None

    def meet_all(self, keys: Iterable[int], bodies: Iterable[int], line: int) -> int:
        """Remembers bodies of lines that follow one another, up to the first key that was met before; how many."""
        count, shift, parts = 0, self._shift, self._keys
        for key, body in zip(keys, bodies, strict=True):
            part = key >> shift
            known = parts[part]
            place = bisect_left(known, key)
            if place < len(known) and known[place] == key:
                break
            known.insert(place, key)
            self._bodies[part].insert(place, body)
            self._lines[part].insert(place, line + count)
            count += 1
        self._count += count
        if self._count > _LONG * len(parts):
            self._divide()
        return count

    def note(self, key: int, body: int, line: int) -> None:
        """Remembers a body and line in place of those met before."""
        if self.meet(key, body, line) is not None:
            part = key >> self._shift
            place = bisect_left(self._keys[part], key)
            self._bodies[part][place], self._lines[part][place] = body, line

    def get(self, key: int) -> tuple[int, int] | None:
        """The body and line remembered under a key."""
        part = key >> self._shift
        keys = self._keys[part]
        place = bisect_left(keys, key)
        found = place < len(keys) and keys[place] == key
        return (self._bodies[part][place], self._lines[part][place]) if found else None

    def _divide(self) -> None:
        """Cuts every part in two: the next bit of their digests tells them apart."""
        self._shift -= 1
        cuts = [bisect_left(keys, 2 * part + 1 << self._shift) for part, keys in enumerate(self._keys)]
        for tables in (self._keys, self._bodies, self._lines):
            halves: list[array[int]] = []
            while tables:
                # From the last to the first, so that a table goes as soon as it is cut.
                table, cut = tables.pop(), cuts[len(tables)]
                halves += (table[cut:], table[:cut])
            tables += reversed(halves)

    @property
    def bytes_used(self) -> int:
        return sum(map(sys.getsizeof, (*self._keys, *self._bodies, *self._lines)))

    def __len__(self) -> int:
        return self._count


class Noted(SeenEvents):
    """Name to one of a few words, by its number, and a line; there are many such tables, and most stay short."""

    _BODY = "H"
    _FIRST = 0

    def meet(self, key: int, body: int, line: int) -> tuple[int, int] | None:
        """The same, and nothing is set aside for what may come."""
        found = super().meet(key, body, line)
        if found is None:
            part = key >> self._shift
            for tables in (self._keys, self._bodies, self._lines):
                tables[part] = tables[part][:]
        return found


def short(text: str) -> int:
    """A digest of a name."""
    return hashed(text.encode("utf-8", "surrogatepass"))


def hashed(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def hashed_all(entries: Collection[bytes]) -> tuple[int, ...]:
    """The same of each of several."""
    found = array("Q", b"".join([blake2b(data, digest_size=8).digest() for data in entries]))
    if sys.byteorder == "little":
        found.byteswap()
    return tuple(found)
