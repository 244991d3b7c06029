"""What a process that works for another does: interrupts are for its parent, who says when no more is wanted."""

from __future__ import annotations

from typing import Any


class StoppedError(Exception):
    """The parent was interrupted."""


_stop: Any = None
"""In a process that works for a parent: set when the parent wants no more."""


def work_for_a_parent(stop: Any) -> None:
    """Leaves interrupts to the parent, which says when to stop."""
    import signal

    global _stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stop = stop


def has_stopped() -> bool:
    """True when the parent wants no more."""
    return _stop.is_set()


def go_on(_size: int) -> None:
    """Progress of a part that nobody is told; ends the work when it is not wanted any more."""
    if _stop.is_set():
        raise StoppedError
