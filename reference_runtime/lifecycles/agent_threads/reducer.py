"""From stored events to messages: a pure function of a stream (AT-37).

It does not ask how the run stands; whether its messages count is the ledger's to decide (AT-5). Messages come without
id and parent, which the ledger gives when the run commits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Message = dict[str, Any]


def reduce(events: Iterable[dict[str, Any]]) -> list[Message]:
    """The messages that the events of one stream amount to, in order."""
    stream = Reduction()
    for stored in events:
        stream.take(stored)
    return stream.end()


class Reduction:
    """A stream being read: closed messages, at most one open, the text so far, and the calls without a result."""

    def __init__(self) -> None:
        self._closed: list[Message] = []
        self._open: Message | None = None
        self._text = ""
        self._at = ""
        self._last = 0
        self._calls: dict[str, str] = {}

    def take(self, stored: dict[str, Any]) -> None:
        """One stored event; one that was taken before changes nothing (AT-25), nor does an unknown kind (AT-20)."""
        if stored["seq"] <= self._last:
            return
        self._last, self._at = stored["seq"], stored["timestamp"]
        event = stored["event"]
        if event["kind"] in _KINDS:
            _KINDS[event["kind"]](self, event["payload"])

    def end(self) -> list[Message]:
        """Every message, the open one included when it has parts (AT-44)."""
        self._close()
        return self._closed

    def _step_started(self, payload: dict[str, Any]) -> None:
        self._flush()
        self._opened()

    def _text_delta(self, payload: dict[str, Any]) -> None:
        self._opened()
        self._text += payload["delta"]

    def _reasoning(self, payload: dict[str, Any]) -> None:
        self._part({"type": "reasoning", "text": payload["text"]})

    def _file(self, payload: dict[str, Any]) -> None:
        told = {name: payload[name] for name in ("mimeType", "url", "name") if name in payload}
        self._part({"type": "file", **told})

    def _tool_call(self, payload: dict[str, Any]) -> None:
        told = {name: payload[name] for name in ("toolCallId", "toolName", "input")}
        self._calls[told["toolCallId"]] = told["toolName"]
        self._part({"type": "tool-call", **told})

    def _tool_result(self, payload: dict[str, Any]) -> None:
        asked = self._calls.pop(payload["toolCallId"], "unknown")
        part = {"type": "tool-result", "toolCallId": payload["toolCallId"], "toolName": payload.get("toolName", asked)}
        self._alone("tool", part | {"output": payload["output"], "isError": payload.get("isError", False)})

    def _user_message(self, payload: dict[str, Any]) -> None:
        self._alone("user", {"type": "text", "text": payload["content"]})

    def _step_finished(self, payload: dict[str, Any]) -> None:
        if self._open:
            self._open["metadata"]["stepFinish"] = payload
        self._close()

    def _error(self, payload: dict[str, Any]) -> None:
        if self._open:
            self._open["metadata"]["error"] = payload

    def _opened(self) -> Message:
        if self._open is None:
            self._open = self._message("assistant")
        return self._open

    def _part(self, part: dict[str, Any]) -> None:
        """A part of the open message, after the text so far (AT-38)."""
        message = self._opened()
        self._flush()
        message["parts"].append(part)

    def _alone(self, role: str, part: dict[str, Any]) -> None:
        """A message of its own with one part (AT-39, AT-40)."""
        self._close()
        self._closed.append(self._message(role, part))

    def _message(self, role: str, *parts: dict[str, Any]) -> Message:
        return {"role": role, "parts": [*parts], "createdAt": self._at, "metadata": {"schemaVersion": 1}}

    def _flush(self) -> None:
        if self._open and self._text:
            self._open["parts"].append({"type": "text", "text": self._text})
        self._text = ""

    def _close(self) -> None:
        self._flush()
        if self._open and self._open["parts"]:
            self._closed.append(self._open)
        self._open = None


_KINDS = {
    "step-started": Reduction._step_started,
    "text-delta": Reduction._text_delta,
    "reasoning": Reduction._reasoning,
    "tool-call": Reduction._tool_call,
    "tool-result": Reduction._tool_result,
    "file": Reduction._file,
    "step-finished": Reduction._step_finished,
    "error": Reduction._error,
    "user-message": Reduction._user_message,
}
