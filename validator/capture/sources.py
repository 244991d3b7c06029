"""Where captures come from: files, globs, folders, standard input; plain, gzip or zstd."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from validator.errors import CaptureError, UsageError

STDIN = "-"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECES = {_GZIP: 1 << 14, _ZSTD: 1 << 11}
"""How much is inflated at a time: a small piece of hostile data becomes a large one, at most some tens of megabytes."""
_ENDINGS = (".ndjson", ".jsonl", ".ndjson.gz", ".jsonl.gz", ".ndjson.zst", ".jsonl.zst")


def expand(words: tuple[str, ...]) -> list[str]:
    """Files named by paths, patterns and folders, each once, in a stable order."""
    found: list[str] = []
    for word in words:
        found += _expand(word)
    return list(dict.fromkeys(found))


def _expand(word: str) -> list[str]:
    if word == STDIN:
        return [word]
    path = Path(word)
    if path.is_dir():
        inside = sorted(str(entry) for entry in path.rglob("*") if entry.is_file() and entry.name.endswith(_ENDINGS))
        if not inside:
            raise UsageError(f"the folder {path.name} holds no capture", hint=f"captures end in {', '.join(_ENDINGS)}")
        return inside
    if path.exists():
        return [word]
    import glob  # most captures are named as they are, and not compressed

    matches = sorted(glob.glob(word, recursive=True))
    if not matches:
        raise UsageError(
            f"there is no file {path.name}", hint="give a file, a folder, a pattern, or - for standard input"
        )
    return matches


@contextmanager
def open_capture(word: str) -> Iterator[BinaryIO]:
    """The bytes of a capture, decompressed where they say so themselves; the name does not count."""
    try:
        if word == STDIN:
            yield _decompressed(word, sys.stdin.buffer)
            return
        with Path(word).open("rb") as file:
            yield _decompressed(word, file)
    except OSError as error:
        raise UsageError(f"{Path(word).name} cannot be read: {error.strerror or 'the system refuses'}") from error


class Inflated:
    """A compressed stream read piece by piece; damage is told once everything before it was handed out."""

    def __init__(self, file: BinaryIO, begun: bytes, piece: int, make: Callable[[], Any]):
        self._file, self._rest, self._piece, self._make = file, begun, piece, make
        self._engine = make()
        self._fresh = True
        self._waiting = b""

    def read(self, size: int) -> bytes:
        """The next piece, never more than asked for; empty at the end."""
        while not self._waiting and self._fill():
            pass
        piece, self._waiting = self._waiting[:size], self._waiting[size:]
        return piece

    def _fill(self) -> bool:
        """Inflates one more piece; False at the end."""
        data, self._rest = self._rest or self._file.read(self._piece), b""
        if not data:
            if self._fresh:
                return False
            raise CaptureError("the compressed data is cut")
        if self._engine.eof:
            self._engine, self._fresh = self._make(), True
        try:
            self._waiting = self._engine.decompress(data)
        except Exception as error:  # each library has its own error for damage
            raise CaptureError("the compressed data is damaged") from error
        self._fresh = self._engine.eof
        self._rest = self._engine.unused_data
        return True


def _decompressed(word: str, file: BinaryIO) -> Any:
    begun = file.read(4)
    if begun.startswith(_GZIP):
        import zlib

        return Inflated(file, begun, _PIECES[_GZIP], lambda: zlib.decompressobj(wbits=31))
    if begun == _ZSTD:
        return Inflated(file, begun, _PIECES[_ZSTD], _zstandard(word).ZstdDecompressor().decompressobj)
    return Prefixed(begun, file)


class Prefixed:
    """A stream with the bytes that were already taken from it put back."""

    def __init__(self, begun: bytes, file: BinaryIO):
        self._begun, self._file = begun, file

    def read(self, size: int) -> bytes:
        begun, self._begun = self._begun, b""
        return begun or self._file.read(size)


def _zstandard(word: str) -> Any:
    try:
        import zstandard
    except ImportError as error:
        hint = "pip install 'runtime-validate[zstd]', or decompress the file first"
        raise UsageError(f"{Path(word).name} is zstd, and nothing here reads it", hint=hint) from error
    return zstandard
