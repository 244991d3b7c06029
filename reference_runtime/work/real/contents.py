"""A content-addressed store: a file by the SHA-256 of its bytes, durable before anybody refers to it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

_DIGEST = re.compile(r"(?:^|[^0-9a-f])([0-9a-f]{64})$")


@dataclass(frozen=True, slots=True)
class Stored:
    """What is kept: the digest that finds it, and its size."""

    sha256: str
    size: int


class Contents:
    """A folder of files that never change."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._kept, self._incoming = folder / "sha256", folder / "incoming"
        for made in (self._kept, self._incoming):
            made.mkdir(parents=True, exist_ok=True, mode=0o700)

    def put(self, text: str) -> Stored:
        """Keeps a text; when this returns, it survives a power cut."""
        incoming = self.incoming()
        incoming.add(text)
        return incoming.keep()

    def incoming(self) -> Incoming:
        """A file that grows until it is kept or given up."""
        return Incoming(self)

    def read(self, reference: str) -> str | None:
        """The text behind a digest, or behind a reference that ends with one; None when these bytes are not kept."""
        found = _DIGEST.search(reference)
        path = self.path(found.group(1)) if found else None
        if path is None or not path.is_file():
            return None
        data = path.read_bytes()
        return data.decode() if hashlib.sha256(data).hexdigest() == path.name else None

    def path(self, digest: str) -> Path:
        return self._kept / digest[:2] / digest

    def tidy(self) -> None:
        """Removes what a killed runtime left unfinished; nobody refers to it."""
        for leftover in self._incoming.iterdir():
            leftover.unlink()

    def _take(self, path: Path, digest: str) -> None:
        target = self.path(digest)
        target.parent.mkdir(exist_ok=True, mode=0o700)
        os.replace(path, target)
        for folder in (target.parent, self._kept):
            _sync(folder)


class Incoming:
    """Bytes on their way into the store."""

    def __init__(self, contents: Contents):
        self._contents, self._digest, self.size = contents, hashlib.sha256(), 0
        handle, name = tempfile.mkstemp(dir=contents._incoming)
        self._path, self._file = Path(name), os.fdopen(handle, "wb")

    def add(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        self._digest.update(data)
        self._file.write(data)
        self.size += len(data)

    def keep(self) -> Stored:
        """Makes the bytes durable and gives them their name."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        digest = self._digest.hexdigest()
        self._contents._take(self._path, digest)
        return Stored(digest, self.size)

    def drop(self) -> None:
        self._file.close()
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
