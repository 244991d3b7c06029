"""Masks private paths, secrets and canaries in whatever we print."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from validator.protocol.regex import any_of, compiled
from validator.readings import Row, layers, matches, readings
from validator.redact.patterns import load_patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

Segments = tuple[str | int, ...]
"""The steps of a JSON pointer."""
_REST = r"(?:[^\s\"'<>|]*(?: [^\s\"'<>|/\\]{1,40}){0,3}[/\\])*[^\s\"'<>|]*"
"""What may still belong to a path that has spaces in its names."""


def mask(text: str, canaries: Iterable[str] = ()) -> str:
    """A text in which no private path, secret or canary is left; one that holds none comes back as it is."""
    rows = _shown_rows()
    words = [form for canary in canaries for form, _ in canary_forms(canary)]
    if not words and _clue().search(layers(text).lower()) is None:
        return text
    for _ in range(8):
        spans = [(match.start, match.end, match.row.kind) for match in matches(text, rows)]
        spans += [(start, end, "canary") for start, end in _occurrences(text, words)]
        if not spans:
            return text
        text = _replaced(text, spans)
    return "[masked]"


@functools.cache
def _shown_rows() -> tuple[Row, ...]:
    return tuple(row for row in load_patterns().rows if row.in_text and row.kind != "entropy")


@functools.cache
def _clue() -> re.Pattern[str]:
    """Occurs wherever a row matches; of most texts it is asked once, and the rows are not asked at all."""
    rows = _shown_rows()
    return compiled(any_of(frozenset(needle for row in rows for needle in row.needles or ("",))))


def _replaced(text: str, spans: list[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, kind in sorted(spans):
        if start < done:
            continue
        if kind == "path":
            rest = compiled(_REST).match(text, end)
            end = rest.end() if rest else end
        parts += [text[done:start], "[masked path]" if kind == "path" else "[masked secret]"]
        done = max(end, done)
    return "".join(parts) + text[done:]


def _occurrences(text: str, words: list[str]) -> Iterator[tuple[int, int]]:
    for reading in readings(text):
        for word in words:
            start = reading.text.find(word)
            while start != -1:
                yield reading.original(start, start + len(word))
                start = reading.text.find(word, start + len(word))


@functools.lru_cache(maxsize=256)
def canary_forms(canary: str) -> tuple[tuple[str, str], ...]:
    """A canary and its common encodings: base64 at each of three alignments, base64 for addresses, hexadecimal."""
    if not canary:
        return ()
    import binascii  # few captures have canaries

    forms = {canary: "as it is"}
    raw = canary.encode("utf-8", "surrogatepass")
    if len(raw) >= 6:
        for shift in range(3):
            encoded = binascii.b2a_base64(b"\0" * shift + raw, newline=False).decode().rstrip("=")
            # The characters at either end also depend on the neighbours.
            core = encoded[(0, 2, 3)[shift] : len(encoded) - bool((len(raw) + shift) % 3)]
            forms.setdefault(core, "in base64")
            forms.setdefault(core.replace("+", "-").replace("/", "_"), "in base64")
        forms.setdefault(raw.hex(), "in hexadecimal")
        forms.setdefault(raw.hex().upper(), "in hexadecimal")
    return tuple(forms.items())


@functools.lru_cache(maxsize=4096)
def _masked(segment: str, canaries: tuple[str, ...]) -> str:
    return mask(segment, canaries)


def masked_pointer(segments: Segments, canaries: Iterable[str] = ()) -> str:
    """A JSON pointer in which keys that leak are masked."""
    words = tuple(canaries)
    steps = (_masked(segment, words) if isinstance(segment, str) else str(segment) for segment in segments)
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
