"""Many short texts, to be looked for in others or to look in, without going through them one by one."""

from __future__ import annotations

from collections.abc import Iterator


class Needles:
    """Texts by how they begin and how long they are."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._lengths: dict[str, set[int]] = {}
        """By the first letter."""
        self._joined: list[str] = []
        """All of them, in texts of which each is longer than the next."""

    def add(self, text: str) -> None:
        """Takes in a text of one line."""
        if text in self._texts:
            return
        self._texts.add(text)
        self._lengths.setdefault(text[:1], set()).add(len(text))
        while self._joined and len(self._joined[-1]) <= len(text):
            text = f"{self._joined.pop()}\n{text}"
        self._joined.append(text)

    def within(self, text: str) -> Iterator[str]:
        """Those that are part of a text, or all of it."""
        if "" in self._texts:
            yield ""
        for at, letter in enumerate(text):
            for length in self._lengths.get(letter, ()):
                if text[at : at + length] in self._texts:
                    yield text[at : at + length]

    def contain(self, text: str) -> bool:
        """True when a text of one line is part of one of them."""
        return any(text in joined for joined in self._joined)
