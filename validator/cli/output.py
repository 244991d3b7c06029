"""Where reports go: standard output, and files that are either whole or not there."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from validator.errors import OutputError, UsageError
from validator.renderers import FORMATS
from validator.renderers.look import Look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_FULL = {errno.EPIPE, errno.ENOSPC}
"""What happens to an output: its reader has gone, or there is no room. Whoever reads files tells of those himself."""


def look(environment: Mapping[str, str], color: str = "auto") -> Look:
    """What the terminal behind standard output can show."""
    terminal = sys.stdout.isatty()
    plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
    colored = color == "always" or (color == "auto" and terminal and not plain)
    return Look(colored, max(_columns(), 40) if terminal else 112)


def _columns() -> int:
    import shutil  # with all formats of archives

    return shutil.get_terminal_size((112, 24)).columns


def show(text: str) -> bool:
    """Writes to standard output. A full disk is an error; a reader that has gone away is none, and makes it False."""
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    except OSError as error:
        _give_up(error)
        return False
    return True


@contextmanager
def told() -> Iterator[None]:
    """The same for what a command says in its own way."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _give_up(error)
        sys.exit(0)


def _give_up(error: OSError) -> None:
    # What is buffered would be written again at exit, and complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        raise OutputError(f"standard output cannot be written: {error.strerror}") from error


def targets(words: tuple[str, ...], formats: tuple[str, ...] = FORMATS) -> list[tuple[str, Path]]:
    """FORMAT=PATH words as formats and paths."""
    if not words:
        return []
    from pathlib import Path

    found: dict[Path, str] = {}
    for word in words:
        form, _, name = word.partition("=")
        if form not in formats or not name:
            hint = f"for example --out {formats[-1]}=report; formats: {', '.join(formats)}"
            raise UsageError(f"--out {word} is not FORMAT=PATH", hint=hint)
        if Path(name) in found:
            raise UsageError(f"two reports would be written to {Path(name).name}")
        found[Path(name)] = form
    return [(form, path) for path, form in found.items()]


def write(path: Path, text: str) -> None:
    """Writes a file in one stroke: readers see the old one or the new one, never a part."""
    try:
        if _is_special(path):
            path.write_text(text, encoding="utf-8")
            return
        _replace(type(path)(os.path.realpath(path)), text.encode("utf-8", "replace"))
    except OSError as error:
        raise OutputError(f"{path.name} cannot be written: {error.strerror}", source=path.name) from error


def _is_special(path: Path) -> bool:
    return path.exists() and not stat.S_ISREG(path.stat().st_mode)


def _replace(path: Path, data: bytes) -> None:
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied")
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            draft.chmod(stat.S_IMODE(path.stat().st_mode))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def append(path: Path, text: str) -> None:
    """Adds to a file that others add to as well."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"{path.name} cannot be written: {error.strerror}", source=path.name) from error
