"""Reads our own YAML and JSON files, and can say on which line a value stands.

Both readers refuse what the formats leave lax: a key that occurs twice, and YAML that is not a mapping.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from validator.errors import DefinitionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from validator.yamlfile import Places

Pointer = Sequence[str | int]


def read_yaml(path: str | Path) -> dict[str, Any]:
    """The mapping in a YAML file; anything else is a `DefinitionError`."""
    from validator import yamlfile  # most runs read what is kept, and no YAML

    text = _text(path)
    try:
        data = yamlfile.load(text)
    except yamlfile.YamlError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else None
        raise DefinitionError(error.problem or "not YAML", source=shown(path), place=place) from error
    if not isinstance(data, dict):
        raise DefinitionError("the file must hold a mapping", source=shown(path), place="line 1")
    return data


def read_json(path: str | Path) -> Any:
    """The value in a JSON file, duplicate keys refused."""
    import json  # what is kept is read without

    try:
        return json.loads(_text(path), object_pairs_hook=_pairs)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise DefinitionError(error.msg, source=shown(path), place=place) from error
    except ValueError as error:
        raise DefinitionError(str(error), source=shown(path)) from error


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key, count in times.items() if count > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return data


def _text(path: str | Path) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError as error:
        raise DefinitionError("the file does not exist", source=shown(path)) from error
    except UnicodeDecodeError as error:
        raise DefinitionError("the file is not UTF-8", source=shown(path), place=f"byte {error.start}") from error


def places_in(path: str | Path) -> Places:
    """Says on which line of a YAML or JSON file the value at a pointer begins; the file is read once."""
    from validator import yamlfile

    return yamlfile.Places(_text(path))


def place_of(path: str | Path, pointer: Pointer) -> str:
    """A place a person can go to: the line when it is known, and the JSON pointer."""
    shown_pointer = json_pointer(pointer)
    is_yaml = os.fspath(path).endswith((".yaml", ".yml"))
    line = places_in(path).line_of(pointer) if is_yaml else None
    return f"line {line} ({shown_pointer})" if line else shown_pointer


def json_pointer(parts: Pointer) -> str:
    """RFC 6901 text for a path of keys and indexes."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def shown(path: str | Path) -> str:
    """A path as a message shows it: from `schemas`, `spec` or `fixtures` on, never from the machine's root."""
    from pathlib import Path

    parts = Path(path).parts
    for index in range(len(parts) - 1, -1, -1):
        if parts[index] in {"schemas", "spec", "fixtures"}:
            return "/".join(parts[index:])
    return Path(path).name
