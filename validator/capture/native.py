"""The library that reads and writes JSON fast; a process that only judges a little goes without.

Reports do not depend on it. To load it takes as long as it saves in some five hundred lines, because it loads much of
the standard library beside.
"""

from __future__ import annotations

import sys

from validator.protocol.fastpath import mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LIBRARY = "orjson"
_spared = False


def spare() -> None:
    """Goes without the library in this process, unless it is demanded or loaded already."""
    global _spared
    _spared = mode() != "on" and _LIBRARY not in sys.modules


def load() -> Any:
    """The library, or None where it is not installed or spared."""
    if _spared:
        return None
    try:
        import orjson
    except ImportError:
        return None
    return orjson
