"""The workspace: files are reached by walking from its root, one name at a time, never through a link.

Each folder on the way is opened relative to the one before and without following links, and the act is done on the
handle that the walk ended with. So the folder that was checked is the folder that is used, whatever somebody renames
or links in between; and a link is refused wherever it leads.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_OWN = getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | _DIRECTORY | _NO_LINK | _OWN
_FILE = _NO_LINK | _OWN | getattr(os, "O_NONBLOCK", 0)
_LONGEST = 4096
_SAFE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,79}")
_LINKED = {errno.ELOOP, errno.EMLINK}


def possible() -> bool:
    """True where folders are walked by handles and processes are told by `/proc`: on Linux."""
    return bool(_NO_LINK) and hasattr(os, "pidfd_open") and os.path.isdir("/proc/self/fd")


class OutsideError(OSError):
    """A path leaves the workspace, or what it may be used for."""


class Workspace:
    """A folder with what may be read and written inside it."""

    def __init__(self, root: Path, read_roots: tuple[str, ...] = (".",), write_roots: tuple[str, ...] = (".",)):
        if not possible():
            raise OSError(errno.ENOTSUP, "Real work needs Linux")
        self.root = Path(os.path.realpath(root))
        self.read_roots, self.write_roots = read_roots, write_roots
        self._handle = os.open(self.root, os.O_RDONLY | _DIRECTORY | _OWN)

    def close(self) -> None:
        os.close(self._handle)

    def read(self, path: str, limit: int) -> tuple[bytes, int]:
        """The beginning of a file, and the size of the whole."""
        with self._place(path, self.read_roots) as (folder, name), _file(name, os.O_RDONLY, folder) as handle:
            return os.read(handle, limit), os.fstat(handle).st_size

    def write(self, path: str, data: bytes) -> None:
        """Replaces a file whole or makes it new, folders on the way included; half of it is never seen."""
        with self._place(path, self.write_roots, make=True) as (folder, name):
            with contextlib.suppress(FileNotFoundError), _file(name, os.O_RDONLY, folder):
                pass  # what stands there is a plain file, or the write is refused
            draft = f".{secrets.token_hex(8)}.part"
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o666, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(draft, dir_fd=folder)
                raise
            os.fsync(folder)

    @contextlib.contextmanager
    def folder(self, path: str) -> Iterator[int]:
        """A handle on a folder, for a process to work in."""
        parts = [] if path in {"", "."} else names(path)
        _allow(parts, self.read_roots)
        with self._walk(parts, make=False) as handle:
            yield handle

    @contextlib.contextmanager
    def _place(self, path: str, roots: tuple[str, ...], *, make: bool = False) -> Iterator[tuple[int, str]]:
        parts = names(path)
        _allow(parts, roots)
        with self._walk(parts[:-1], make=make) as folder:
            yield folder, parts[-1]

    @contextlib.contextmanager
    def _walk(self, parts: list[str], *, make: bool) -> Iterator[int]:
        handle = os.dup(self._handle)
        try:
            for part in parts:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=handle)
                below = _opened(part, _FOLDER, handle)
                os.close(handle)
                handle = below
            yield handle
        finally:
            os.close(handle)


def names(path: str) -> list[str]:
    """The names a path is made of; raises OutsideError for whatever is not plainly inside a workspace.

    A path that becomes an escape once it is decoded is refused as well: nobody here decodes it, yet the next program
    may.
    """
    if any(0xD800 <= ord(char) <= 0xDFFF for char in path) or len(path.encode()) > _LONGEST:
        raise OutsideError("The path is too long, or no text.")
    decoded, before = path, None
    while decoded != before:
        before, decoded = decoded, unquote(decoded)
    for form in {path, decoded}:
        if not form or "\0" in form or "\\" in form or form[0] in "/~" or re.match(r"[A-Za-z]:", form):
            raise OutsideError("The path is not relative to the workspace.")
        if ".." in form.split("/"):
            raise OutsideError("The path leaves the workspace.")
    if decoded.count("/") > path.count("/"):
        raise OutsideError("The path hides a part of itself.")
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if not parts:
        raise OutsideError("The path names no file.")
    return parts


def shown(path: str) -> str:
    """A path as events may show it: relative and inside; what is not is shown by its last name, if that is harmless."""
    try:
        return "/".join(names(path))
    except OutsideError:
        last = re.split(r"[/\\]", path)[-1]
        return last if _SAFE_NAME.fullmatch(last) else "outside"


def _allow(parts: list[str], roots: tuple[str, ...]) -> None:
    for root in roots:
        allowed = [part for part in root.split("/") if part not in {"", "."}]
        if parts[: len(allowed)] == allowed:
            return
    raise OutsideError("That part of the workspace may not be used like this.")


@contextlib.contextmanager
def _file(name: str, flags: int, folder: int) -> Iterator[int]:
    """A handle on a plain file that has no second name, which might lie outside."""
    handle = _opened(name, flags | _FILE, folder)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise OutsideError("It is not a plain file of the workspace.")
        yield handle
    finally:
        os.close(handle)


def _opened(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        linked = error.errno in _LINKED or (error.errno == errno.ENOTDIR and _is_link(name, folder))
        if linked or error.errno == errno.ENXIO:
            raise OutsideError("The path leads over a link.") from error
        raise


def _is_link(name: str, folder: int) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return False
