"""What the command line and the configuration file ask for together."""

from __future__ import annotations

import os
import time

from validator import config
from validator.cli import failure
from validator.errors import UsageError
from validator.settings import Settings, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def settings(given: dict[str, Any], config_file: str | None) -> Settings:
    """What the command line and the configuration file ask for together."""
    words = {name.replace("_", "-"): value for name, value in given.items()}
    for name in ("select", "ignore"):
        split = (part.strip().upper() for word in words.get(name) or () for part in word.split(","))
        words[name] = tuple(part for part in split if part)
    path = _path(config_file) if config_file else config.find(os.getcwd())
    found = resolve(words, config.load(path) if path else None, os.environ)
    failure.speak(found["format"])
    return found


def _path(name: str) -> Path:
    from pathlib import Path

    return Path(name)


def day(word: str | None) -> str:
    """The day with which dates are compared."""
    if word is None:
        return time.strftime("%Y-%m-%d", time.gmtime())
    import datetime  # a day is seldom given

    try:
        return datetime.date.fromisoformat(word).isoformat()
    except ValueError as error:
        raise UsageError(f"--as-of {word} is no day", hint="write it as YYYY-MM-DD") from error
