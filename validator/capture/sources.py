"""Where captures come from: files, globs, folders, standard input; plain, gzip or zstd."""

from __future__ import annotations

import glob
import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from validator.errors import UsageError

STDIN = "-"
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
    matches = sorted(glob.glob(word, recursive=True))
    if not matches:
        raise UsageError(
            f"there is no file {path.name}", hint="give a file, a folder, a pattern, or - for standard input"
        )
    return matches


@contextmanager
def open_capture(word: str) -> Iterator[BinaryIO]:
    """The bytes of a capture, decompressed where its name says so."""
    if word == STDIN:
        yield sys.stdin.buffer
        return
    try:
        with Path(word).open("rb") as file:
            yield _decompressed(word, file)
    except (OSError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "the compressed data is damaged"
        raise UsageError(f"{Path(word).name} cannot be read: {reason}") from error


def _decompressed(word: str, file: BinaryIO) -> BinaryIO:
    if word.endswith(".gz"):
        return io.BufferedReader(gzip.GzipFile(fileobj=file))
    if not word.endswith(".zst"):
        return file
    try:
        import zstandard
    except ImportError as error:
        hint = "pip install 'runtime-validate[zstd]', or decompress the file first"
        raise UsageError(f"{Path(word).name} is zstd, and nothing here reads it", hint=hint) from error
    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file))
