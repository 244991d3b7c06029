"""Reads TOML, and can say on which line a value stands, which the standard reader cannot."""

from __future__ import annotations

import functools

from validator.errors import ConfigurationError
from validator.protocol.regex import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

Pointer = tuple[str | int, ...]

# As text: most runs ask for no line, and the first that does compiles them.
_HEADER = r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$"
_PAIR = r"""^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*=\s*(.*)$"""
_PART = r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s]+))\s*"""
_ERROR_PLACE = r" \(at (line [0-9]+, column [0-9]+|end of document)\)$"


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """The tables of a file and its text; dates become text."""
    import tomllib  # most runs read no TOML

    try:
        text = path.read_text(encoding="utf-8")
        return _plain(tomllib.loads(text)), text
    except tomllib.TOMLDecodeError as error:
        found = compiled(_ERROR_PLACE).search(str(error))
        place = found.group(1) if found else None
        raise ConfigurationError(compiled(_ERROR_PLACE).sub("", str(error)), source=path.name, place=place) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError("the file is not UTF-8", source=path.name, place=f"byte {error.start}") from error
    except OSError as error:
        raise ConfigurationError(f"it cannot be read: {error.strerror}", source=path.name) from error


def may_hold(path: str, section: tuple[str, str]) -> bool:
    """False when a file certainly has no such table within a table; to parse it takes longer than to look.

    Whatever begins the one or the other stands at the beginning of a line, plain, in quotes, or spelt with escapes.
    """
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return True  # whoever reads it says why it cannot be read
    outer, inner = (name.encode() for name in section)  # plain words of ours
    begins = rb"""(?m)^(?:\xef\xbb\xbf)?\s*\[{0,2}\s*["']?%b["']?\s*(?:[\]=]|\.\s*["']?%b)""" % (outer, inner)
    return compiled(begins).search(text) is not None or b"\\u" in text.lower()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    import datetime

    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value


class Places:
    """On which lines of a text values begin; the text is looked through when somebody asks first."""

    def __init__(self, text: str):
        self._text = text

    @functools.cached_property
    def _known(self) -> dict[Pointer, int]:
        return _places(self._text)

    def line_of(self, pointer: Pointer) -> int | None:
        """The line on which a value, or the nearest thing around it, begins."""
        for length in range(len(pointer), 0, -1):
            if pointer[:length] in self._known:
                return self._known[pointer[:length]]
        return None


def _places(text: str) -> dict[Pointer, int]:
    found: dict[Pointer, int] = {}
    table: Pointer = ()
    array: Pointer | None = None
    counts: dict[Pointer, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        header, pair = compiled(_HEADER).match(line), compiled(_PAIR).match(line)
        if header and array is None:
            table = _opened(_parts(header.group(2)), header.group(1) == "[[", counts)
            found.setdefault(table, number)
        elif pair and array is None:
            key = (*table, *_parts(pair.group(1)))
            found.setdefault(key, number)
            if pair.group(2).startswith("[") and not _closed(pair.group(2)):
                array = key
                counts[array] = 0
        elif array is not None:
            if line.strip().startswith("{"):
                found.setdefault((*array, counts[array]), number)
                counts[array] += 1
            array = None if line.strip().startswith("]") else array
    return found


def _opened(parts: Pointer, repeated: bool, counts: dict[Pointer, int]) -> Pointer:
    if not repeated:
        return parts
    counts[parts] = counts.get(parts, -1) + 1
    return (*parts, counts[parts])


def _closed(text: str) -> bool:
    return text.split("#")[0].rstrip().endswith("]")


def _parts(text: str) -> Pointer:
    return tuple(next(part for part in match.groups() if part is not None) for match in compiled(_PART).finditer(text))
