"""How many processes a check takes that was not told."""

from __future__ import annotations

import os

AUTO = "auto"
"""As many as pay."""
WORTH = 1 << 24
"""Bytes of captures from which more than one process pays: below, to start another takes too much of what it saves."""
LARGE = 1 << 20
"""Bytes of a single capture from which several processes share it, when they are asked for."""
MOST = 8
"""Each of them looks at every line of a capture that they share, so that more save hardly more."""


def fitting(paths: list[str]) -> int:
    """The processes that pay for some captures: one, unless these are large and the machine has several processors."""
    return min(_processors(), MOST) if sum(map(_size, paths)) >= WORTH else 1


def is_large(path: str) -> bool:
    """True for a file that is worth another process."""
    return path != "-" and _size(path) >= LARGE


def _size(path: str) -> int:
    """Bytes of a file; what comes through a pipe has none that could be known."""
    try:
        return os.path.getsize(path) if os.path.isfile(path) else 0
    except (OSError, ValueError):  # whoever opens it says what is wrong
        return 0


def _processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
