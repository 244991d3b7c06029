"""Regexes of the contract and of our own code, compiled once and kept between runs.

To compile the patterns that a short capture asks for takes as long as to judge fifty of its lines. What the compiler of
the standard library made of a pattern is kept beside the contract (`keep.py`), by the pattern and its flags, and only
if the regex made from it equals the library's own. Patterns come from data files and from code, never from a capture.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection

from validator.protocol.keep import Keep, shipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr

Made = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]
"""Flags, the words of the code, how many groups there are, their numbers by name, and their names by number."""
Key = tuple[object, int | str]
"""A pattern or words, and the flags or what was found out."""
_ENTRY = "regexes"
_ANCHORED = "anchored"
_ANY = "any of them"
_WORD = 4
"""Bytes of a word of code."""


@functools.cache
def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The regex of a pattern that we wrote ourselves."""
    key = (pattern, int(flags))
    made = _known(key)
    if made is not None:
        return _restored(pattern, made)
    import re  # what is kept is restored without

    found = re.compile(pattern, flags)
    _keep(key, lambda: _made(found, int(flags)))
    return found


@functools.cache
def is_anchored(pattern: str) -> bool:
    """True for a regex that matches at the beginning of a text or nowhere."""
    if not pattern.removeprefix("(?i)").startswith("^"):  # most of them; the others are parsed
        return False
    return _found_out((pattern, _ANCHORED), lambda: _begins(pattern))


@functools.cache
def any_of(words: frozenset[str]) -> str:
    """A pattern for any of some words, by their common beginnings: a branch is tried per letter, not per word."""
    return _found_out((tuple(sorted(words)), _ANY), lambda: _branches(words)) if words else "(?!)"


def _begins(pattern: str) -> bool:
    from re import MULTILINE, _constants, _parser

    parsed = _parser.parse(pattern)
    return parsed[0] == (_constants.AT, _constants.AT_BEGINNING) and not parsed.state.flags & MULTILINE


def _branches(words: Collection[str]) -> str:
    if "" in words:
        return ""
    import re

    letters = sorted({word[0] for word in words})
    parts = [re.escape(letter) + _branches({word[1:] for word in words if word[0] == letter}) for letter in letters]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _known(key: Key) -> Any:
    """What is kept of a pattern."""
    return (shipped().get(_ENTRY) or {}).get(key)


def _found_out(key: Key, find: Callable[[], Any]) -> Any:
    """What is kept of a pattern, else what is found out now."""
    found = _known(key)
    if found is None:
        found = find()
        _keep(key, lambda: found)
    return found


def _keep(key: Key, make: Callable[[], Any]) -> None:
    """Has something kept that is made when everything was said; None is not kept."""
    kept = shipped()
    new = _new(kept)
    new[key] = make
    kept.put(_ENTRY, lambda: {**(kept.get(_ENTRY) or {}), **_all(new)})


@functools.lru_cache(maxsize=4)
def _new(_kept: Keep) -> dict[Key, Callable[[], Any]]:
    """What was found out beyond what is kept."""
    return {}


def _all(new: dict[Key, Callable[[], Any]]) -> dict[Key, Any]:
    return {key: found for key, make in new.items() if (found := make()) is not None}


def _made(regex: re.Pattern[Any], flags: int) -> Made | None:
    """What a regex is made of; None where this interpreter does not make it of that."""
    names: list[str | None] = [None] * (regex.groups + 1)
    for name, number in regex.groupindex.items():
        names[number] = name
    try:
        from re import _compiler, _parser

        code = _compiler._code(_parser.parse(regex.pattern, flags), flags)
        words = b"".join([int(word).to_bytes(_WORD, sys.byteorder) for word in code])
        made = (regex.flags, words, regex.groups, dict(regex.groupindex), tuple(names))
        return made if _restored(regex.pattern, made) == regex else None
    except (ImportError, AttributeError, TypeError, OverflowError, RuntimeError):
        return None  # nobody promised these parts of the library


def _restored(pattern: AnyStr, made: Made) -> re.Pattern[AnyStr]:
    import _sre

    flags, words, *groups = made
    return _sre.compile(pattern, flags, memoryview(words).cast("I").tolist(), *groups)
