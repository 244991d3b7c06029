"""Where captures come from: files, globs, folders, standard input; plain, gzip or zstd."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from validator.errors import CaptureError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

STDIN = "-"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECES = {_GZIP: 1 << 14, _ZSTD: 1 << 11}
"""How much is inflated at a time: a small piece of hostile data becomes a large one, at most some tens of megabytes."""
_ENDINGS = (".ndjson", ".jsonl", ".ndjson.gz", ".jsonl.gz", ".ndjson.zst", ".jsonl.zst")
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP}
_AGAIN = "copy or compress it again"
_HINT = "give a file, a folder, a pattern, or - for standard input"


def expand(words: tuple[str, ...]) -> list[str]:
    """Files named by paths, patterns and folders, each once, in a stable order."""
    found: list[str] = []
    for word in words:
        try:
            found += _expand(word)
        except OSError as error:
            raise _refused(_name(error.filename or word), error) from error
    return list(dict.fromkeys(found))


def _expand(word: str) -> list[str]:
    if word == STDIN:
        return [word]
    if not word:
        raise UsageError("an empty text names no file", hint=_HINT)
    status = _status(word)
    if status is not None:
        return _folder(word) if stat.S_ISDIR(status.st_mode) else [word]
    import glob  # most captures are named as they are, and not compressed

    matches = sorted(glob.glob(word, recursive=True))
    found = [name for match in matches for name in (_inside(match) if os.path.isdir(match) else [match])]
    if not found:
        raise UsageError(f"there is no file {_name(word)}", hint=_HINT)
    return found


def _status(word: str) -> os.stat_result | None:
    """What the system says about a file; None when it says that there is none, or that there cannot be one."""
    try:
        return os.stat(word)
    except ValueError:
        return None
    except OSError as error:
        if error.errno in _NOT_THERE:
            return None
        raise


def _folder(folder: str) -> list[str]:
    inside = _inside(folder)
    if not inside:
        hint = f"captures end in {', '.join(_ENDINGS)}"
        raise UsageError(f"the folder {_name(folder)} holds no capture", hint=hint)
    return inside


def _name(path: str) -> str:
    """The last part of a path."""
    from pathlib import Path  # for messages only

    return Path(path).name


def _inside(folder: str) -> list[str]:
    """The captures below a folder; a folder that cannot be looked into is no empty one."""
    from pathlib import Path

    def refuse(error: OSError) -> None:
        raise error

    entries = (Path(top, name) for top, _, names in os.walk(folder, onerror=refuse) for name in names)
    # A link that leads nowhere is kept, so that opening it says so.
    files = (entry for entry in entries if entry.is_file() or (entry.is_symlink() and not entry.exists()))
    return sorted(str(entry) for entry in files if entry.name.endswith(_ENDINGS))


def _refused(name: str, error: OSError) -> UsageError:
    return UsageError(f"{name} cannot be read: {error.strerror or 'the system refuses'}")


@contextmanager
def open_capture(word: str) -> Iterator[BinaryIO]:
    """The bytes of a capture, decompressed where they say so themselves; the name does not count."""
    if word == STDIN:
        if sys.stdin is None:
            raise UsageError("standard input is closed", hint=_HINT)
        yield _decompressed(word, Opened(word, sys.stdin.buffer))
        return
    try:
        file = open(word, "rb")  # noqa: SIM115 - closed below; what the caller does is not refused here
    except OSError as error:
        raise _refused(_name(word), error) from error
    with file:
        yield _decompressed(word, Opened(word, file))


class Opened:
    """A file that says which one it is when the system refuses to read it."""

    def __init__(self, word: str, file: BinaryIO):
        self._word, self._file = word, file

    def read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except OSError as error:
            raise _refused(_name(self._word), error) from error


class Inflated:
    """A compressed stream read piece by piece; damage is told once everything before it was handed out."""

    def __init__(
        self, file: BinaryIO | Opened, begun: bytes, piece: int, make: Callable[[], Any], name: str | None = None
    ):
        self._file, self._rest, self._piece, self._make, self._name = file, begun, piece, make, name
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
            raise CaptureError("the compressed data is cut", source=self._name, hint=_AGAIN)
        if self._engine.eof:
            self._engine, self._fresh = self._make(), True
        try:
            self._waiting = self._engine.decompress(data)
        except Exception as error:  # each library has its own error for damage
            raise CaptureError("the compressed data is damaged", source=self._name, hint=_AGAIN) from error
        self._fresh = self._engine.eof
        self._rest = self._engine.unused_data
        return True


def _decompressed(word: str, file: Opened) -> Any:
    begun = file.read(4)
    if begun.startswith(_GZIP):
        import zlib

        return Inflated(file, begun, _PIECES[_GZIP], lambda: zlib.decompressobj(wbits=31), _name(word))
    if begun == _ZSTD:
        make = _zstandard(word).ZstdDecompressor().decompressobj
        return Inflated(file, begun, _PIECES[_ZSTD], make, _name(word))
    return Prefixed(begun, file)


class Prefixed:
    """A stream with the bytes that were already taken from it put back."""

    def __init__(self, begun: bytes, file: BinaryIO | Opened):
        self._begun, self._file = begun, file

    def read(self, size: int) -> bytes:
        begun, self._begun = self._begun, b""
        return begun + self._file.read(max(size - len(begun), 0))


def _zstandard(word: str) -> Any:
    try:
        import zstandard
    except ImportError as error:
        hint = "pip install 'runtime-validate[zstd]', or decompress the file first"
        raise UsageError(f"{_name(word)} is zstd, and nothing here reads it", hint=hint) from error
    return zstandard
