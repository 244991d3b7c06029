"""Reads JSON strictly: what is taken in can be written out again.

Python's reader takes more than others do: `NaN`, numbers without end, integers that lose digits elsewhere, halves of
characters. Any of them would be kept and could not be told to others, so they are refused here, before anybody decides
anything. And `5.0` is the integer 5, as JSON Schema has it.
"""

from __future__ import annotations

import json
import math
from typing import Any

LARGEST = 2**53 - 1
"""The largest integer that every reader of JSON takes for what it is (CAP-9)."""
DEPTH = 64
"""How deep a document may nest."""


class NotJson(ValueError):  # noqa: N818  an outcome of reading
    """Text that is no JSON document we can keep; says why, for the sender."""


def read(text: bytes | str) -> Any:
    """The document that a text holds."""
    try:
        text = text.decode() if isinstance(text, bytes) else text
        document = json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_exact)
    except UnicodeDecodeError:
        raise NotJson("It is not UTF-8.") from None
    except (ValueError, RecursionError):
        raise NotJson("It is not JSON.") from None
    _check(document, DEPTH)
    return document


def _no_number(word: str) -> None:
    raise ValueError(word)


def _finite(digits: str) -> float | int:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number without end")
    return int(value) if value.is_integer() and abs(value) <= LARGEST else value


def _exact(digits: str) -> int:
    value = int(digits)
    if abs(value) > LARGEST:
        raise ValueError("an integer that others would round")
    return value


def _check(value: Any, depth: int) -> None:
    if depth < 0:
        raise NotJson(f"It nests deeper than {DEPTH} levels.")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check_text(name)
            _check(inner, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth - 1)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJson("A text holds half a character.") from None
