"""The little Markdown that generated blocks need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars and line breaks inside cells are made safe."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def code(words: Iterable[object]) -> str:
    """Words in code type, separated by commas."""
    return ", ".join(f"`{word}`" for word in words)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split()) or " "
