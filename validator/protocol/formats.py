"""The one date-time check and the one reading of `pattern`, given to every engine that validates our schemas.

Libraries disagree about leap seconds, a trailing newline, a space for the `T`, and offsets without a colon. Schemas
therefore carry a `pattern` for the shape, and this function decides whether the instant can exist at all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from validator.protocol.regex import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from datetime import datetime, timedelta

# The fraction may have any number of digits: readers that need a datetime keep the first six.
_SHAPE = r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"

TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
"""The pattern that our time schema spells out."""
_PLAIN = (
    r"(?!0000)[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-]00:00)"
)


@functools.cache
def plain_instant() -> Callable[[str], object]:
    """Accepts only instants that exist, in UTC and in the usual form; those of 29 February are left to the full check.

    It is the test itself and not a function around it, because every line is put to it.
    """
    return compiled(_PLAIN).fullmatch


@functools.cache
def ecma_regex(pattern: str) -> re.Pattern[str]:
    """A `pattern` as ECMA-262 reads it, which JSON Schema asks for: there `$` does not match before a final newline."""
    return compiled(compiled(r"(?<!\\)\$(?=\)*$)").sub(r"\\Z", pattern))


def parse_date_time(text: str) -> datetime | None:
    """The instant an RFC 3339 timestamp names, in UTC, or None when there is no such instant."""
    from datetime import UTC, datetime, timedelta, timezone  # few captures have times that somebody compares

    if plain_instant()(text):
        return datetime.fromisoformat(text)
    match = compiled(_SHAPE).fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.group(1, 2, 3, 4, 5, 6))
    offset = _offset(match.group(8))
    if offset is None:
        return None
    leap = second == 60
    micros = int((match.group(7) or ".0")[1:7].ljust(6, "0"))
    try:
        local = datetime(year, month, day, hour, minute, 59 if leap else second, micros, timezone(offset))
        instant = local.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if not leap:
        return instant
    # A leap second is only ever inserted as the last second of a UTC day.
    return instant + timedelta(seconds=1) if (instant.hour, instant.minute) == (23, 59) else None


def _offset(text: str) -> timedelta | None:
    from datetime import timedelta

    if text in "Zz":
        return timedelta(0)
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 23 or minutes > 59:
        return None
    span = timedelta(hours=hours, minutes=minutes)
    return span if text[0] == "+" else -span


def instant(value: object) -> datetime | None:
    """The moment that a value of a capture names, or None when it names none."""
    return parse_date_time(value) if isinstance(value, str) else None


def is_date_time(value: object) -> bool:
    """True for anything that is not a string: `format` speaks about strings only."""
    return not isinstance(value, str) or parse_date_time(value) is not None
