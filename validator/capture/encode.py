"""The bytes of a value with its keys in order, for digests; the same value always gives the same bytes."""

from __future__ import annotations

from validator.capture import native
from validator.jsontext import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

orjson = native.load()
NATIVE = orjson is not None
_INFINITE = float("inf")
_SORTED = orjson.OPT_SORT_KEYS if orjson is not None else 0


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or abs(value) < _INFINITE


def _written(value: Any, option: int = 0) -> bytes | None:
    """The bytes that the library writes, or None for what it cannot write as it is: big numbers, lone surrogates."""
    if orjson is None:
        return None
    try:
        written = orjson.dumps(value, option=option)
    except TypeError:
        return None
    # It writes infinity as null, which is something else.
    return written if b"null" not in written or _is_finite(value) else None


def sorted_bytes(value: Any) -> bytes:
    """Fast where the library can write the value; else the long way."""
    written = _written(value, _SORTED)
    return write(value).encode() if written is None else written


def read_bytes(value: Any) -> bytes:
    """The same for what was read from a capture: no number in it is infinite."""
    try:
        return orjson.dumps(value, option=_SORTED) if orjson is not None else sorted_bytes(value)
    except TypeError:
        return sorted_bytes(value)


def escaped(text: bytes) -> bytes:
    """The inside of a string of JSON with no more escapes than our writer gives it; nothing where it is none."""
    try:
        return sorted_bytes(unpack(b'"%b"' % text))[1:-1]
    except ValueError:
        return b""


def pack(value: dict[str, Any]) -> bytes | dict[str, Any]:
    """A document in few bytes, or itself where they would not tell all of it."""
    written = _written(value)
    return value if written is None else written


def _read(text: bytes) -> Any:
    import json  # what was packed was packed by the library that is there

    return json.loads(text)


def unpack(packed: bytes | dict[str, Any]) -> Any:
    """The document that was packed."""
    if not isinstance(packed, bytes):
        return packed
    return orjson.loads(packed) if orjson is not None else _read(packed)
