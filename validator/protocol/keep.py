"""The compiled contract, kept between runs and never trusted without proof.

What is kept: definitions that were read and found sound, the schema files, the clauses, and the code of the acceptors.
Why it may be trusted: an entry is named by a digest over the very bytes it was made from (every file of the contract
and every module that reads or compiles them), over what tells apart interpreters whose code differs, and over our
version. The digest is computed anew in every process, which costs a few milliseconds; sizes and times of files are not
looked at, because they prove nothing. So an entry answers for exactly the files that lie there, or is not found. An
entry also carries a check sum of its own content, the one by which Python tells sources apart: half a file, a flipped
bit or another program's file is passed over and written again. What others may have written (another owner, or a file
or folder that others may write to) is not read at all, since the content is code.

An installed package holds entries of its own, made when it was built (`hatch_build.py`), so that not even the first run
has to compile. They are named and summed likewise, and read where the folder has none; who may write there may write
this module, so no owner is asked for.

Beside these lie entries that answer for no contract: the code of our modules, which whoever reads it has to prove
(`validator/cli/shelf.py`). They are named by our version, the interpreter and marks of their own.

`RUNTIME_VALIDATE_CACHE` names the folder; `off` keeps and reads nothing. Nothing depends on an entry but time: where
the folder cannot be written, every run makes its own.
"""

from __future__ import annotations

import functools
import marshal
import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import MAGIC_NUMBER, source_hash

import validator
from validator import resources
from validator.protocol.digest import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

try:
    from _sre import MAGIC as REGEXES
except ImportError:  # an interpreter that does not tell whose compiled regexes it takes
    REGEXES = sys.version

VARIABLE = "RUNTIME_VALIDATE_CACHE"
_FORM = b"runtime-validate contract 3\n"
_CODE = ("protocol", "datafile.py", "yamlfile.py", "readings.py", "redact", "sieve.py")
"""What reads and compiles the contract, below this package."""
_INTERPRETER = (sys.implementation.cache_tag, MAGIC_NUMBER.hex(), REGEXES, marshal.version, sys.byteorder)
"""What decides whether code and regexes that another process compiled mean the same in this one."""
_PACKED = "compiled"
"""The folder beside the packaged contract that holds the entries made when the package was built."""
_OFF = "off"
_SIZE, _SUM = 32, 8
"""Bytes of a digest, and of a check sum."""
_LARGE = 1 << 20
"""Bytes from which an entry is mapped and not read."""
_PIECE = 1 << 15
"""Bytes that are read at once; most files are shorter."""


class Keep:
    """Entries of one contract; each is read once, and new ones are written by `flush`.

    Without a folder nothing is written; `packed` is one that came with the package.
    """

    def __init__(self, folder: str | None, key: str, now: Callable[[], str] | None = None, packed: str | None = None):
        self._folder, self._packed, self._key = folder, packed, key
        self._now = now or (lambda: key)
        """The key as it is now: what was read is kept only if nothing changed while it was read."""
        self._known: dict[str, Any] = {}
        self._changed: dict[str, Callable[[], Any]] = {}

    def get(self, name: str) -> Any:
        """The value kept under a name; None when there is none to trust."""
        if name not in self._known:
            own = self._read(self._folder, name, _is_ours)
            self._known[name] = self._read(self._packed, name, _as_installed) if own is None else own
        return self._known[name]

    def put(self, name: str, make: Callable[[], Any]) -> None:
        """Has the value that `make` returns kept from the next run on."""
        if self._folder is not None:
            self._changed[name] = make

    def flush(self) -> None:
        """Writes what is new; called when everything that was read has proved sound."""
        changed, self._changed = self._changed, {}
        if not changed or self._folder is None or self._now() != self._key:
            return
        for name, make in changed.items():
            try:
                self._write(self._folder, name, marshal.dumps(make()))
            except OSError:  # a folder that cannot be written costs time and nothing else
                return

    def _path(self, folder: str, name: str) -> str:
        return os.path.join(folder, f"{self._key}-{name.replace('/', '-')}")

    def _read(self, folder: str | None, name: str, is_trusted: Callable[[os.stat_result], bool]) -> Any:
        if folder is None:
            return None
        try:
            with open(self._path(folder, name), "rb") as file:
                status = os.fstat(file.fileno())
                if not is_trusted(status) or not is_trusted(os.stat(folder)):
                    return None
                return _proved(_content_of(file, status.st_size))
        except OSError:
            return None

    def _write(self, folder: str, name: str, payload: bytes) -> None:
        """Whole or not at all: written beside its place, then moved there."""
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = self._path(folder, name)
        beside = f"{path}.{os.getpid()}"
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_FORM + source_hash(payload) + payload)
        os.replace(beside, path)


def _content_of(file: BinaryIO, size: int) -> bytes | memoryview:
    """The bytes of an entry; many are read where the system holds them, since memory for a copy takes longer to get."""
    mapped = _mapped(file, size) if size >= _LARGE else None
    return file.read() if mapped is None else mapped


def _mapped(file: BinaryIO, size: int) -> memoryview | None:
    """A file as the system holds it; None where it maps no files, or not this one."""
    try:
        from mmap import ACCESS_READ, mmap

        return memoryview(mmap(file.fileno(), size, access=ACCESS_READ))
    except (ImportError, OSError, ValueError):
        return None


def _proved(content: bytes | memoryview) -> Any:
    """The value of an entry; None unless it is whole."""
    start = len(_FORM) + _SUM
    payload = memoryview(content)[start:]
    return marshal.loads(payload) if content[:start] == _FORM + source_hash(payload) else None


NOTHING = Keep(None, "")
"""Keeps nothing: the folder is switched off, or the contract is not the one that we ship."""


def keep_for(root: str) -> Keep:
    """What is kept of the contract below a `schemas` folder; only the shipped one is kept."""
    return shipped() if root == resources.folder("schemas") else NOTHING


@functools.cache
def shipped() -> Keep:
    """What is kept of the contract that comes with this package."""
    if os.environ.get(VARIABLE) == _OFF:
        return NOTHING
    packed = os.path.join(resources.home(), _PACKED)
    return Keep(_folder(), _key(), _key, packed if os.path.isdir(packed) else None)


def own(*marks: Any) -> Keep:
    """What commands keep for themselves under some marks; it is kept for this version and this interpreter."""
    if os.environ.get(VARIABLE) == _OFF:
        return NOTHING
    return Keep(_folder(), _begun(*marks).hexdigest())


def _folder() -> str | None:
    named = os.environ.get(VARIABLE)
    if named:
        return named
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "runtime-validate") if os.path.isabs(base) else None


def _key() -> str:
    """The digest of everything that an entry is made from."""
    package = os.path.dirname(validator.__file__)
    places = [resources.folder("schemas"), resources.folder("spec"), *(os.path.join(package, name) for name in _CODE)]
    digest = _begun()
    for place in places:
        for path in _files(place):
            content = _content(path)
            digest.update(f"\0{path[len(place) :]}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def _begun(*marks: Any) -> Any:
    """A digest of our version, of this interpreter and of some marks."""
    digest = blake2b(digest_size=_SIZE)
    digest.update("\0".join(map(str, (validator.__version__, *_INTERPRETER, *marks))).encode())
    return digest


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


def _as_installed(_status: os.stat_result) -> bool:
    """What came with the package is trusted as its modules are, whoever installed them."""
    return True


def _is_ours(status: os.stat_result) -> bool:
    """True when nobody else can have written: the owner is us (or the system), and nobody else may write."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid in {os.getuid(), 0} and not status.st_mode & 0o022
