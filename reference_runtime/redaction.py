"""Strips paths of machines from events before they are kept.

The shapes are a small set of the runtime's own; what counts as a leak is for the judge's pattern table to say. A path
is replaced by its last segment, so that a reader still knows which file was meant (RED-7).
"""

from __future__ import annotations

import re
from typing import Any

_PATH = re.compile(
    r"""(?:file:/*)?(?:
        (?<![A-Za-z0-9_./:-])/(?:home|Users|root|tmp|var|private|mnt|media|Volumes|opt/homebrew)/[^\s"'<>`]* |
        (?<![A-Za-z0-9_])~/[^\s"'<>`]* |
        (?<![A-Za-z0-9])[A-Za-z]:[\\/][^\s"'<>`]* |
        \\\\[A-Za-z0-9._$-]+\\[^\s"'<>`]*
    )|file:/+[^\s"'<>`]+""",
    re.VERBOSE,
)
FREE = ("payload", "execution_environment", "telemetry")


def clean(event: dict[str, Any], free: tuple[str, ...] = FREE) -> dict[str, Any]:
    """The event without paths of machines; ids, types and times are never touched (RED-23)."""
    return event | {name: _clean(event[name]) for name in free if name in event}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _PATH.sub(lambda found: _last(found.group()), value)
    if isinstance(value, list):
        return [_clean(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _clean(entry) for name, entry in value.items()}
    return value


def _last(path: str) -> str:
    segments = [segment for segment in re.split(r"[\\/]", path) if segment]
    return f"[{segments[-1] if len(segments) > 2 else 'path'}]"
