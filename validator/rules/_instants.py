"""Time stamps as moments that can be compared."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from validator.protocol.formats import parse_date_time


def instant(value: Any) -> datetime | None:
    """The moment a time stamp names, or None when it names none; one without an offset is no time stamp."""
    return parse_date_time(value) if isinstance(value, str) else None
