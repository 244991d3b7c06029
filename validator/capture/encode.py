"""The bytes of a value with its keys in order, for digests; the same value always gives the same bytes."""

from __future__ import annotations

import json
import math
from typing import Any

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

NATIVE = orjson is not None


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def sorted_bytes(value: Any) -> bytes:
    """Fast where the library can write the value; numbers beyond its range and lone surrogates take the long way."""
    if orjson is not None:
        try:
            written = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
            # It writes infinity as null, which is something else.
            if b"null" not in written or _is_finite(value):
                return written
        except TypeError:
            pass
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def pack(value: dict[str, Any]) -> bytes | dict[str, Any]:
    """A document in few bytes, or itself where they would not tell all of it."""
    if orjson is not None:
        try:
            written = orjson.dumps(value)
            if b"null" not in written or _is_finite(value):
                return written
        except TypeError:
            pass
    return value


def unpack(packed: bytes | dict[str, Any]) -> dict[str, Any]:
    """The document that was packed."""
    if not isinstance(packed, bytes):
        return packed
    return orjson.loads(packed) if orjson is not None else json.loads(packed)
