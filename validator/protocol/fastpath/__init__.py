"""A fast acceptor per schema, compiled from the same files that the authority reads.

It only ever says "certainly valid". Whatever it does not accept goes to `jsonschema`, which stays the authority and the
source of every message; so a keyword the compiler does not know costs time and never correctness. The switch is the
environment variable `RUNTIME_VALIDATE_FAST`:

* `auto` (the default): what is installed and pays is used;
* `on`: the optional native libraries are demanded, from the first byte on;
* `off`: the authority alone, and the standard library.
"""

from __future__ import annotations

import os

from validator.errors import UsageError
from validator.protocol.fastpath.acceptors import Accept, restore

__all__ = ["MODES", "Accept", "mode", "restore"]

VARIABLE = "RUNTIME_VALIDATE_FAST"
MODES = ("auto", "on", "off")


def mode() -> str:
    """The mode asked for; an unknown word is refused, so that a typing mistake changes nothing silently."""
    word = os.environ.get(VARIABLE, "auto")
    if word not in MODES:
        raise UsageError(f"{VARIABLE} is {word!r}", hint=f"known: {', '.join(MODES)}")
    return word
