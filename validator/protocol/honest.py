"""Known values against the five honest ones.

A status field has the five words in its enum. Any other field that a runtime may not know accepts, instead of its
value, an object with exactly the keys `honest` and `reason`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WORDS = ("unknown", "unavailable", "not_applicable", "stale", "blocked")


def is_honest(value: Any) -> bool:
    """True for `{"honest": <one of the five>, "reason": <text>}` and nothing else."""
    return (
        isinstance(value, dict)
        and len(value) == 2  # most have more or less, and to count costs little
        and value.keys() == {"honest", "reason"}
        and value["honest"] in WORDS
        and isinstance(value["reason"], str)
    )


def known(value: Any) -> Any:
    """The value, or None when it is absent or only honestly said to be missing."""
    return None if isinstance(value, dict) and is_honest(value) else value
