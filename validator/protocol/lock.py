"""Freezes a released folder: a `LOCK` file holds the SHA-256 of every other file in it.

A released version never changes. Whoever edits a locked folder turns the lock test red; the way forward is the next
version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from validator.datafile import shown
from validator.errors import DefinitionError

NAME = "LOCK"


def digests(folder: Path) -> dict[str, str]:
    """Relative path to SHA-256 of every file of a folder, the lock itself apart."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != NAME)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def write(folder: Path) -> Path:
    """Writes the lock of a folder; refuses to replace one that no longer fits."""
    path = folder / NAME
    if path.exists():
        for problem in check(folder):
            hint = "a locked folder is frozen: open the next version instead"
            raise DefinitionError(problem, source=shown(path), hint=hint)
    lines = [f"{digest}  {name}\n" for name, digest in digests(folder).items()]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path


def check(folder: Path) -> Iterator[str]:
    """What changed in a locked folder since it was frozen."""
    frozen: dict[str, str] = {}
    for line in (folder / NAME).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        frozen[name] = digest
    current = digests(folder)
    for name in sorted(frozen.keys() | current.keys()):
        if name not in current:
            yield f"{name} is gone"
        elif name not in frozen:
            yield f"{name} is new"
        elif frozen[name] != current[name]:
            yield f"{name} has changed"


def locked(root: Path) -> list[Path]:
    """Folders below a root that are frozen."""
    return sorted(path.parent for path in root.rglob(NAME))
