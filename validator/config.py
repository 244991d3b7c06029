"""The configuration file: found, read, held against its published schema; every complaint names file and line."""

from __future__ import annotations

import os

from validator import resources
from validator.errors import ConfigurationError
from validator.protocol.schemas import describe, leaves, load_store
from validator.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from jsonschema.exceptions import ValidationError

    from validator.suppressions import Suppression
    from validator.tomlfile import Places, Pointer

NAME = "runtime-validate.toml"
PYPROJECT = "pyproject.toml"
SECTION = ("tool", "runtime-validate")
SCHEMA = "config/1/config.schema.json"
_PATHS = ("baseline",)


@dataclass(frozen=True, slots=True)
class Config:
    """A file's settings as they stand, and its suppressions."""

    path: Path
    values: dict[str, Any] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()


def find(start: str | Path) -> Path | None:
    """The nearest configuration file at or above a folder, up to the root of the repository."""
    folder, below = os.fspath(start), None
    while folder != below:
        for name in (NAME, PYPROJECT):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (name == NAME or _has_section(path)):
                return _path(path)
        if os.path.exists(os.path.join(folder, ".git")):
            return None
        folder, below = os.path.dirname(folder), folder
    return None


def _path(text: str) -> Path:
    from pathlib import Path  # where no file lies, nothing that reads one is loaded

    return Path(text)


def _has_section(path: str) -> bool:
    from validator.tomlfile import may_hold, read_toml

    return may_hold(path, SECTION) and SECTION[1] in read_toml(_path(path))[0].get(SECTION[0], {})


def load(path: Path) -> Config:
    """The settings of a file; anything it should not hold is refused with its place."""
    from validator.suppressions import Suppression
    from validator.tomlfile import Places, read_toml

    data, text = read_toml(path)
    places = Places(text)
    prefix: Pointer = SECTION if path.name == PYPROJECT else ()
    for part in prefix:
        data = data.get(str(part), {})
    _check(path, data, places, prefix)
    values = {key: value for key, value in data.items() if key != "suppress"}
    suppressions = []
    for index, entry in enumerate(data.get("suppress", ())):
        line = places.line_of((*prefix, "suppress", index))
        _check_date(entry, path, line)
        suppressions.append(Suppression(file=path.absolute(), line=line, **entry))
    return Config(path, _resolved(values, path.parent), tuple(suppressions))


def _check_date(entry: dict[str, str], path: Path, line: int | None) -> None:
    import datetime

    try:
        datetime.date.fromisoformat(entry.get("expires", "2000-01-01"))
    except ValueError as error:
        reason = f"{entry['expires']} is no day of the calendar"
        raise ConfigurationError(reason, source=path.name, place=f"line {line}") from error


def _resolved(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Paths in a file are relative to the file."""
    found = dict(values)
    for key in _PATHS:
        if key in found:
            found[key] = str(folder / found[key])
    if str(found.get("profile", "")).endswith((".yaml", ".yml")):
        found["profile"] = str(folder / found["profile"])
    for key in ("select", "ignore"):
        if key in found:
            found[key] = [word.upper() for word in found[key]]
    if "out" in found:
        pairs = (entry.split("=", 1) for entry in found["out"])
        found["out"] = tuple(f"{form}={folder / name}" for form, name in pairs)
    return {key: tuple(value) if isinstance(value, list) else value for key, value in found.items()}


def _check(path: Path, data: dict[str, Any], places: Places, prefix: Pointer) -> None:
    validator = load_store(resources.folder("schemas")).validator(SCHEMA)
    errors = [leaf for error in validator.iter_errors(data) for leaf in leaves(error)]
    placed = [(_line(error, places, prefix), _message(error)) for error in errors]
    for line, (reason, hint) in sorted(placed, key=lambda entry: entry[0] or 0):
        raise ConfigurationError(reason, source=path.name, place=f"line {line}" if line else None, hint=hint)


def _line(error: ValidationError, places: Places, prefix: Pointer) -> int | None:
    unknown = _unknown(error)
    return places.line_of((*prefix, *error.absolute_path, *unknown[:1]))


def _unknown(error: ValidationError) -> list[str]:
    if error.validator != "additionalProperties":
        return []
    return [key for key in error.instance if key not in error.schema.get("properties", {})]


def _message(error: ValidationError) -> tuple[str, str | None]:
    where = ".".join(str(part) for part in error.absolute_path)
    unknown = _unknown(error)
    if unknown:
        known = list(error.schema["properties"])
        import difflib

        near = difflib.get_close_matches(unknown[0], known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        return f"unknown key {unknown[0]!r}{f' in {where}' if where else ''}", hint
    if error.validator == "anyOf":
        return f"{where} must name a rule, a requirement or a fingerprint", None
    if error.validator == "minLength" and where.endswith("reason"):
        return f"{where} must be a reason that the next reader understands, not {len(error.instance)} letters", None
    hint = "or a number of processes, without quotes" if where == "jobs" and error.validator == "const" else None
    return f"{where} {describe(error)}".strip(), hint
