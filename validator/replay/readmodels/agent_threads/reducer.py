"""Streams reduced to messages, and what stays of a stream that is over.

Of a stream whose run ended long ago only digests of its messages are kept, 24 bytes each: enough to tell whether a
transcript that is served later says what the stream said.
"""

from __future__ import annotations

from validator.capture.encode import sorted_bytes
from validator.records import dataclass
from validator.replay.readmodels.words import number, word
from validator.replay.seen import hashed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEFT = ("stepFinish", "error")
"""What a stream leaves in the metadata of a message."""
Said = tuple[int, ...]
"""A message by the digest of its role and parts, and those of what its stream left with it."""


def digest_of(value: Any) -> int:
    """A digest of a value, zero for none."""
    return 0 if value is None else hashed(sorted_bytes(_plain(value)))


def _plain(value: Any) -> Any:
    """A value in which equal numbers are written alike."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def content_of(message: dict[str, Any]) -> int:
    """A digest of what a message says."""
    return hashed(sorted_bytes([word(message, "role"), message.get("parts")]))


def digested(message: dict[str, Any]) -> Said:
    """A message by its digests."""
    return (content_of(message), *(digest_of(message["metadata"].get(name)) for name in LEFT))


@dataclass(slots=True)
class Closed:
    """A stream that is over: how far it went, the calls without a result, and its messages by their digests."""

    whole: bool
    last: int
    pending: tuple[str, ...]
    digests: bytes

    @property
    def count(self) -> int:
        """How many messages there are."""
        return len(self.digests) // (8 * (len(LEFT) + 1))

    def said_since(self, number: int) -> tuple[list[Said], None]:
        """The messages after so many by their digests; none of them can change."""
        start = number * 8 * (len(LEFT) + 1)
        parts = [int.from_bytes(self.digests[at : at + 8]) for at in range(start, len(self.digests), 8)]
        return list(zip(*(parts[first :: len(LEFT) + 1] for first in range(len(LEFT) + 1)), strict=True)), None

    def apply(self, event: dict[str, Any]) -> None:
        """An event after the end: what the stream reduces to is no longer known."""
        self.whole, self.last = False, max(self.last, number(event, "seq") or 0)


class Reducer:
    """Turns the events of one stream into messages, as the table of kinds says."""

    def __init__(self, kinds: dict[str, dict[str, Any]]):
        self._kinds = kinds
        self._text: list[str] | None = None
        """The pieces of a text that has not ended; to join them one by one would copy what came before each time."""
        self._open: dict[str, Any] | None = None
        self._done: list[dict[str, Any]] = []
        self._digests: list[Said] = []
        """Those of the first of them, as far as somebody asked."""
        self.pending: dict[str, str] = {}
        self.last = 0
        self.whole = True
        """Every event since the first was seen."""

    def apply(self, event: dict[str, Any]) -> None:
        """Takes one stored event in."""
        sequence, inner = number(event, "seq"), event.get("event")
        self.whole = self.whole and sequence == self.last + 1
        self.last = max(self.last, sequence or 0)
        kind = word(inner, "kind")
        if kind not in self._kinds or not isinstance(inner, dict):
            return
        values, payload = self._kinds[kind], inner.get("payload")
        if not isinstance(payload, dict):
            return
        if values["metadata"] and self._open:
            self._open["metadata"][values["metadata"]] = payload
        if values["flushes"]:
            self._flush()
        if values["closes"]:
            self._close()
        if values["opens"] and self._open is None:
            self._open = _message("assistant")
        if kind == "text-delta":
            text = self._text = [] if self._text is None else self._text
            text.append(str(payload.get("delta", "")))
        elif values["part"]:
            self._add(kind, values, payload)

    def messages(self) -> list[dict[str, Any]]:
        """The messages so far, the open one included when it has parts."""
        unfinished = self._unfinished()
        return [*self._done, *([unfinished] if unfinished else [])]

    @property
    def count(self) -> int:
        """How many messages there are so far."""
        return len(self._done) + bool(self._open and (self._open["parts"] or any(self._text or ())))

    def said_since(self, number: int) -> tuple[list[Said], Said | None]:
        """The finished messages after so many, and the open one, by their digests."""
        self._digests += map(digested, self._done[len(self._digests) :])
        unfinished = self._unfinished()
        return self._digests[number:], digested(unfinished) if unfinished else None

    def _unfinished(self) -> dict[str, Any] | None:
        """The open message, when it has parts."""
        parts = [*self._open["parts"], *self._said()] if self._open is not None else []
        return {**self._open, "parts": parts} if self._open and parts else None

    def closed(self) -> Closed:
        """What stays of a stream that is over."""
        said, unfinished = self.said_since(0)
        told = said if unfinished is None else [*said, unfinished]
        digests = b"".join(part.to_bytes(8) for digests in told for part in digests)
        return Closed(self.whole, self.last, tuple(self.pending), digests)

    def _add(self, kind: str, values: dict[str, Any], payload: dict[str, Any]) -> None:
        part = self._part(kind, values["part"], payload)
        if values["message"]:
            message = _message(values["message"])
            message["parts"].append(part)
            self._done.append(message)
        else:
            # Every kind whose part goes into the open message opens one where there is none.
            self._open["parts"].append(part)

    def _part(self, kind: str, part: str, payload: dict[str, Any]) -> dict[str, Any]:
        if part == "tool-call":
            self.pending[str(payload.get("toolCallId"))] = str(payload.get("toolName"))
            return {"type": part, **{name: payload.get(name) for name in ("toolCallId", "toolName", "input")}}
        if part == "tool-result":
            call = str(payload.get("toolCallId"))
            name = payload.get("toolName") or self.pending.get(call, "unknown")
            self.pending.pop(call, None)
            failed = payload.get("isError", False)
            return {
                "type": part,
                "toolCallId": call,
                "toolName": name,
                "output": payload.get("output"),
                "isError": failed,
            }
        if part == "file":
            return {"type": part, **{name: payload[name] for name in ("mimeType", "url", "name") if name in payload}}
        return {"type": part, "text": payload.get("content" if kind == "user-message" else "text")}

    def _flush(self) -> None:
        if self._open is not None:
            self._open["parts"] += self._said()
        self._text = None

    def _said(self) -> list[dict[str, Any]]:
        """The text that has not ended, as a part; nothing when there is none."""
        text = "".join(self._text or ())
        return [{"type": "text", "text": text}] if text else []

    def _close(self) -> None:
        self._flush()
        if self._open is not None and self._open["parts"]:
            self._done.append(self._open)
        self._open = None


def _message(role: str) -> dict[str, Any]:
    return {"role": role, "parts": [], "metadata": {"schemaVersion": 1}}
