"""ULIDs: an instant of 48 bits and 80 bits that tell apart what was made in it, in Crockford's 32 digits."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def ulid(moment: datetime, name: str) -> str:
    """The id of a thing made at a moment; the same moment and name give the same id, another name another."""
    instant = (moment - _EPOCH) // timedelta(milliseconds=1)
    number = instant << 80 | int.from_bytes(hashlib.sha256(name.encode()).digest()[:10], "big")
    return "".join(_DIGITS[number >> 5 * place & 31] for place in reversed(range(26)))
