"""One entity that a state table describes."""

from __future__ import annotations

import sys

from validator.records import dataclass, field


@dataclass(slots=True)
class Subject:
    """One entity as far as the stream has told: its state, how it was found, and the identities it was seen with."""

    machine: str
    key: str
    state: str
    by: str
    scope: dict[str, str] = field(default_factory=dict)
    history: list[int] = field(default_factory=list)
    """Lines at which its state changed, the first being the one that introduced it."""
    doubted: bool = False
    """It was open when a gap or an unreadable line came, and nothing has been heard of it since."""
    heard: int = 0
    """The last line that drove it."""
    faded: bool = False
    """It was over and not heard of for so long that only its state and the line that led there were kept."""

    def meet(self, scope: dict[str, str]) -> bool:
        """Learns the identities it was not seen with before, if any; equal ids of many subjects are one string."""
        own = self.scope
        if scope.keys() <= own.keys():
            return False
        for name, value in scope.items():
            if name not in own:
                own[name] = sys.intern(value)
        return True
