"""How a report may look: width and colours. Without a terminal it is always the same."""

from __future__ import annotations

from validator.records import dataclass

_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}


@dataclass(frozen=True, slots=True)
class Look:
    """What the reader's terminal can show."""

    color: bool = False
    width: int = 112

    def paint(self, text: str, *styles: str) -> str:
        """Text in a colour, if there are colours."""
        if not self.color:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"


PLAIN = Look()
