"""Values as a store keeps them: JSON on one line, and what is read from it is what was written."""

from __future__ import annotations

import json
from typing import Any

_encode = json.JSONEncoder(separators=(",", ":")).encode


def _is_text(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


try:
    import orjson
except ImportError:  # the standard library writes the same values
    written, is_text = _encode, _is_text
else:
    _dumps = orjson.dumps
    _AS_GIVEN = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS

    def written(value: Any) -> str:
        """A value as text."""
        try:
            text = _dumps(value, None, _AS_GIVEN).decode()
        except TypeError:  # large integers, lone surrogates, keys that are no text
            return _encode(value)
        # What is no number is written as null, so a text with a null may say less than the value did.
        return _encode(value) if "null" in text else text

    def is_text(value: Any) -> bool:
        """True when every text of a value can be written as UTF-8; half of a surrogate pair cannot."""
        try:
            _dumps(value)
        except TypeError:
            return _is_text(value)
        return True
