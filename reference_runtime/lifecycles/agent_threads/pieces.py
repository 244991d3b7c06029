"""Text in pieces: what is harmless in each piece can be a path or a secret where two of them meet.

A reader joins the deltas of an answer (AT-32), so the joint is cleaned as well. What stands on the stream already
stays; the piece that would complete a leak loses the word that does.
"""

from __future__ import annotations

import re
from typing import Any

from reference_runtime.redaction import clean

MARKER = " [redacted]"
"""It begins a word, so that it goes on from nothing."""
_WORDS, _LENGTH = 4, 4096
_FIRST_WORD = re.compile(r"\s*\S+")


def cleaned(event: dict[str, Any], before: str) -> dict[str, Any]:
    """An event without paths and secrets, also where its text goes on from the text before."""
    event = clean(event)
    delta = event["payload"].get("delta") if _is_text(event) else None
    if not isinstance(delta, str) or _plain(before + delta):
        return event
    rest = _FIRST_WORD.sub(MARKER, delta, count=1)
    return event | {"payload": event["payload"] | {"delta": rest if _plain(before + rest) else MARKER}}


def tail(before: str, event: dict[str, Any]) -> str:
    """What of the text so far the next piece may go on from: a few words, or nothing where a message part ends."""
    if _is_text(event):
        text = (before + event["payload"]["delta"])[-_LENGTH:]
        words = text.rsplit(maxsplit=_WORDS)
        return text[len(words[0]) :] if len(words) > _WORDS else text
    return before if event["kind"] not in _FLUSHING else ""


def _is_text(event: dict[str, Any]) -> bool:
    return event.get("kind") == "text-delta" and isinstance(event.get("payload"), dict)


def _plain(text: str) -> bool:
    return clean({"payload": text})["payload"] == text


_FLUSHING = frozenset(
    {"step-started", "reasoning", "tool-call", "tool-result", "file", "step-finished", "user-message"}
)
