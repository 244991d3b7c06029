"""Words of findings."""

from __future__ import annotations


def one(thing: str) -> str:
    """A thing with its article: a turn, an action."""
    return f"an {thing}" if thing[:1] in "aeio" else f"a {thing}"
