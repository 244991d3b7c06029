"""Where a workspace keeps its files, and which of its paths a run may use."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Protocol, TypeGuard

LONGEST = 1_000_000
"""How much of a file is read."""


class Folder(Protocol):
    """The files of a workspace, by paths relative to it; what cannot be reached raises OSError."""

    def read(self, path: str, limit: int) -> tuple[bytes, int]:
        """The beginning of a file, and the size of the whole."""

    def write(self, path: str, data: bytes) -> None:
        """Replaces a file whole, or makes it new."""


class MemoryFolder:
    """Files in memory, for tests and for showing off."""

    def __init__(self, files: dict[str, str] | None = None):
        self.files = {path: text.encode() for path, text in (files or {}).items()}

    def read(self, path: str, limit: int) -> tuple[bytes, int]:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path][:limit], len(self.files[path])

    def write(self, path: str, data: bytes) -> None:
        self.files[path] = data


def inside(path: object) -> TypeGuard[str]:
    """True for a path that is plainly relative and stays in its workspace."""
    if not isinstance(path, str) or not path or re.search(r"^[/~]|^[A-Za-z]:|\\|\0|%", path):
        return False
    return ".." not in path.split("/")


def covered(path: object, allowlist: Iterable[str]) -> bool:
    """True when an entry of an allowlist is the path or a folder above it."""
    if not inside(path):
        return False
    return any(_parts(path)[: len(_parts(entry))] == _parts(entry) for entry in allowlist)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]


def digest(folder: Folder, path: str) -> str | None:
    """What a file holds, as a digest; None when there is no such file, a word when it cannot be read."""
    try:
        data, _ = folder.read(path, LONGEST)
    except FileNotFoundError:
        return None
    except OSError:
        return "unreadable"
    return digest_of(data)


def text_of(folder: Folder, path: str) -> str:
    """What a file says; nothing when it cannot be read."""
    try:
        return folder.read(path, LONGEST)[0].decode(errors="replace")
    except OSError:
        return ""


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
