"""One pass over the bytes of a line that tells what the line can certainly not hold.

A gate is built from regexes over the text of strings, loosened into regexes over bytes (`loosen.py`). It runs them all
at once in Hyperscan, the optional extra `fast`; without it there is no gate, and a slower look at strings decides the
same. A gate never says that something is there: what it does not exclude is looked at exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEAK = 1
"""A string may match a pattern that counts in any place."""
ROOTED = 2
"""A string may match a pattern that counts only where a path or a reference stands."""
RANDOM = 4
"""A string may hold a word that looks random; most of them do not, and `random` tells."""

Clue = tuple[int, str]
"""What a match means, and a regex over bytes."""


def text_clues(meaning: int, regexes: Iterable[str]) -> Iterator[Clue]:
    """The clues of regexes over the text of strings."""
    from validator.protocol.loosen import loosen  # a short capture builds no gate

    for regex in regexes:
        found = loosen(regex)
        if found is not None:
            yield meaning, found


def is_available() -> bool:
    """True when the native library is installed; it is imported only when a gate is built."""
    from importlib.util import find_spec  # a short capture asks for no gate

    return find_spec("hyperscan") is not None


def version() -> str:
    """The version of the native library; what another one stored is not asked for."""
    import hyperscan

    return hyperscan.__version__


class Gate:
    """Runs clues over lines; `look` gives the meanings that a line does not exclude."""

    def __init__(self, clues: Iterable[Clue], stored: bytes | None = None):
        import hyperscan

        from validator.protocol.loosen import ESCAPED

        self._found: list[int] = []
        database = _loaded(stored) if stored else None
        self._database: Any = database or _compiled([(LEAK, ESCAPED), *clues])
        self._database.scratch = hyperscan.Scratch(self._database)
        found = self._found
        self._note = lambda meaning, *_: found.append(meaning)

    def look(self, raw: bytes) -> int:
        """The meanings of all clues that match; 0 when nothing is there."""
        self._database.scan(raw, match_event_handler=self._note)
        if not self._found:
            return 0
        meanings = reduce(or_, self._found)
        self._found.clear()
        return meanings

    def clean(self, raw: bytes) -> bool:
        """True when certainly no pattern matches any string of the line, whatever its place."""
        return not self.look(raw) & (LEAK | ROOTED | RANDOM)

    def stored(self) -> bytes:
        """The compiled form, for `Gate(..., stored=...)` on the same machine and library."""
        import hyperscan

        return hyperscan.dumpb(self._database)


def _compiled(clues: list[Clue]) -> Any:
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    flags = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_DOTALL
    database.compile(
        expressions=[regex.encode() for _, regex in clues],
        ids=[meaning for meaning, _ in clues],
        flags=[flags] * len(clues),
    )
    return database


def _loaded(stored: bytes) -> Any:
    """A database from its stored form; None when it is of another version or another kind of processor."""
    import hyperscan

    try:
        return hyperscan.loadb(stored, hyperscan.HS_MODE_BLOCK)
    except hyperscan.HyperscanError:
        return None
