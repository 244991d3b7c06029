"""Decodes one line fast when it certainly is what a careful decoder would read, and says nothing otherwise.

Fast parsers keep the last of two equal keys, turn integers beyond 2^64 into floats, and tell nobody. A line is taken
only when one of two proofs holds: written again it is the same bytes, or its quotation marks are exactly those of what
was read (a dropped key would leave some over) and no number comes near 2^53. Everything else is left to the careful
decoder in `ndjson.py`, which names what is wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from validator.capture import native
from validator.errors import UsageError
from validator.protocol.fastpath import mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SAFE = 2**53
_UNSURE = 1 << 62
_OPENS, _CLOSES = b"{}"
Decode = Callable[[bytes, int], dict[str, object] | None]


def decoder() -> Decode | None:
    """The decoder for certain lines, or None when the mode or the installation has none."""
    return None if mode() == "off" else _native(demanded=mode() == "on")


@functools.cache
def _native(demanded: bool) -> Decode | None:
    orjson = native.load()
    if orjson is None:
        if demanded:
            raise UsageError("orjson is not installed", hint="RUNTIME_VALIDATE_FAST=on demands it")
        return None
    loads, dumps, strict = orjson.loads, orjson.dumps, orjson.OPT_STRICT_INTEGER

    def decode(raw: bytes, depth: int) -> dict[str, Any] | None:
        if not raw or raw[0] != _OPENS or raw[-1] != _CLOSES or raw.count(b"{") + raw.count(b"[") > depth:
            return None
        try:
            document = loads(raw)
            if dumps(document, option=strict) == raw:
                return document
        except (ValueError, TypeError, RecursionError):
            return None
        return document if _marks(document) == raw.count(b'"') else None

    return decode


def _marks(value: Any) -> int:
    """How many quotation marks a value needs; more than any line has when a number is too large to be sure of."""
    kind = type(value)
    if kind is str:
        return 2
    if kind is dict:
        return 2 * len(value) + sum(map(_marks, value.values()))
    if kind is list:
        return sum(map(_marks, value))
    if kind is int or kind is float:
        return 0 if -_SAFE < value < _SAFE else _UNSURE
    return 0
