"""The compiled contract, kept between runs and never trusted without proof.

What is kept: definitions that were read and found sound, the schema files, the clauses, and the code of the acceptors.
Why it may be trusted: an entry is named by a digest over the very bytes it was made from (every file of the contract
and every module that reads or compiles them), over the interpreter and over our version. The digest is computed anew in
every process, which costs a few milliseconds; sizes and times of files are not looked at, because they prove nothing.
So an entry answers for exactly the files that lie there, or is not found. An entry also carries a check sum of its own
content, the one by which Python tells sources apart: half a file, a flipped bit or another program's file is passed
over and written again. What others may have written (another owner, or a file or folder that others may write to) is
not read at all, since the content is code.

`RUNTIME_VALIDATE_CACHE` names the folder; `off` keeps and reads nothing. Nothing depends on an entry but time: where
the folder cannot be written, every run makes its own.
"""

from __future__ import annotations

import functools
import marshal
import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import source_hash
from typing import Any

import validator
from validator import resources
from validator.protocol.digest import blake2b

VARIABLE = "RUNTIME_VALIDATE_CACHE"
_FORM = b"runtime-validate contract 2\n"
_CODE = ("protocol", "datafile.py", "yamlfile.py", "readings.py", "redact", "sieve.py")
"""What reads and compiles the contract, below this package."""
_SIZE, _SUM = 32, 8
"""Bytes of a digest, and of a check sum."""
_PIECE = 1 << 15
"""Bytes that are read at once; most files are shorter."""


class Keep:
    """Entries of one contract; each is read once, and new ones are written by `flush`."""

    def __init__(self, folder: str, key: str, now: Callable[[], str] | None = None):
        self._folder, self._key = folder, key
        self._now = now or (lambda: key)
        """The key as it is now: what was read is kept only if nothing changed while it was read."""
        self._known: dict[str, Any] = {}
        self._changed: dict[str, Callable[[], Any]] = {}

    def get(self, name: str) -> Any:
        """The value kept under a name; None when there is none to trust."""
        if name not in self._known:
            self._known[name] = self._read(self._path(name))
        return self._known[name]

    def put(self, name: str, make: Callable[[], Any]) -> None:
        """Has the value that `make` returns kept from the next run on."""
        self._changed[name] = make

    def flush(self) -> None:
        """Writes what is new; called when everything that was read has proved sound."""
        changed, self._changed = self._changed, {}
        if changed and self._now() != self._key:
            return
        for name, make in changed.items():
            try:
                self._write(self._path(name), marshal.dumps(make()))
            except OSError:  # a folder that cannot be written costs time and nothing else
                return

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{self._key}-{name.replace('/', '-')}")

    def _read(self, path: str) -> Any:
        try:
            with open(path, "rb") as file:
                if not _is_ours(os.fstat(file.fileno())) or not _is_ours(os.stat(self._folder)):
                    return None
                content = file.read()
        except OSError:
            return None
        start = len(_FORM) + _SUM
        payload = memoryview(content)[start:]
        if content[:start] != _FORM + source_hash(payload):
            return None
        return marshal.loads(payload)

    def _write(self, path: str, payload: bytes) -> None:
        """Whole or not at all: written beside its place, then moved there."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        beside = f"{path}.{os.getpid()}"
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_FORM + source_hash(payload) + payload)
        os.replace(beside, path)


class _Nothing(Keep):
    """Keeps nothing: the folder is switched off, or the contract is not the one that we ship."""

    def __init__(self) -> None:
        super().__init__("", "")

    def get(self, name: str) -> Any:
        return None

    def put(self, name: str, make: Callable[[], Any]) -> None:
        pass


NOTHING = _Nothing()


def keep_for(root: str) -> Keep:
    """What is kept of the contract below a `schemas` folder; only the shipped one is kept."""
    return shipped() if root == resources.folder("schemas") else NOTHING


@functools.cache
def shipped() -> Keep:
    """What is kept of the contract that comes with this package."""
    folder = _folder()
    return Keep(folder, _key(), _key) if folder else NOTHING


def _folder() -> str | None:
    named = os.environ.get(VARIABLE)
    if named:
        return None if named == "off" else named
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "runtime-validate") if os.path.isabs(base) else None


def _key() -> str:
    """The digest of everything that an entry is made from."""
    package = os.path.dirname(validator.__file__)
    places = [resources.folder("schemas"), resources.folder("spec"), *(os.path.join(package, name) for name in _CODE)]
    digest = blake2b(digest_size=_SIZE)
    digest.update(f"{validator.__version__}\0{sys.version}\0{sys.implementation.cache_tag}\0{marshal.version}".encode())
    for place in places:
        for path in _files(place):
            content = _content(path)
            digest.update(f"\0{path[len(place) :]}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def _content(path: str) -> bytes:
    """The bytes of a file; a file object would take as long to make as most files to read."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    parts = []
    try:
        while part := os.read(number, _PIECE):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(number)


def _files(place: str) -> Iterator[str]:
    """The files of a place in a fixed order; generated pages and compiled modules are made from others."""
    if not os.path.isdir(place):
        yield place
        return
    with os.scandir(place) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir():
            if entry.name not in {"generated", "__pycache__"}:
                yield from _files(entry.path)
        elif entry.name.endswith((".json", ".yaml", ".md", ".py")):
            yield entry.path


def _is_ours(status: os.stat_result) -> bool:
    """True when nobody else can have written: the owner is us (or the system), and nobody else may write."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid in {os.getuid(), 0} and not status.st_mode & 0o022
