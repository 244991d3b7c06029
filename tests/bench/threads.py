"""A stream of agent-threads as the measured one: six runs at a time, most of it streamed text.

A run is asked something, answers in two steps of as many pieces as `talk.py` has, calls a tool between them, and is
committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from tests.bench.talk import AT_ONCE, PIECES, interleaved, piece

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BEGINNING = datetime(2026, 5, 8, 9, tzinfo=UTC)
_USAGE = {"inputTokens": 1840, "outputTokens": 40}
_INPUT = {"path": "docs/guide.md", "url": "https://docs.example.org/guide?page=2#order"}


def lines(events: int) -> Iterator[bytes]:
    """As many lines as asked for; the last runs end the stream."""
    written = 0
    for first in count(0, AT_ONCE):
        for line in interleaved([list(_run(number)) for number in range(first, first + AT_ONCE)]):
            yield line
            written += 1
        if written >= events:
            return


def _run(number: int) -> Iterator[bytes]:
    begun = _BEGINNING + timedelta(seconds=number)
    name = f"{_ulid(begun)}{number:016d}"
    record = {"runId": name, "threadId": f"thread-{number}", "streamId": f"run:{name}", "forkFromMessageId": None}
    times = {"createdAt": _stamp(begun), "finishedAt": None}
    for status in ("created", "streaming"):
        yield _written({"record": "run", **record, "status": status, **times, "messageCount": 0})
    moment = begun
    for sequence, (kind, payload) in enumerate(_told(number), 1):
        moment = begun + timedelta(milliseconds=40 * sequence)
        event = {"kind": kind, "payload": payload}
        yield _written({"seq": sequence, "timestamp": _stamp(moment), "streamId": f"run:{name}", "event": event})
    times["finishedAt"] = _stamp(moment + timedelta(milliseconds=5))
    yield _written({"record": "run", **record, "status": "committed", **times, "messageCount": 4})


def _told(number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is appended to the stream of one run."""
    call = {"toolCallId": f"call_{number}", "toolName": "read_file"}
    yield "user-message", {"content": "Summarise docs/guide.md in two lines."}
    yield "step-started", {"stepIndex": 0}
    yield "reasoning", {"text": "The file is read first."}
    yield from (("text-delta", {"delta": piece(place)}) for place in range(PIECES))
    yield "tool-call", {**call, "input": _INPUT}
    yield "tool-result", {**call, "output": {"lines": 42, "text": "See docs/guide.md."}}
    yield "step-finished", {"stepIndex": 0, "finishReason": "tool-calls", "usage": _USAGE}
    yield "step-started", {"stepIndex": 1}
    yield from (("text-delta", {"delta": piece(place)}) for place in range(PIECES))
    yield "step-finished", {"stepIndex": 1, "finishReason": "stop", "usage": _USAGE}


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _ulid(moment: datetime) -> str:
    """The time in the first ten characters of an id."""
    milliseconds = int(moment.timestamp() * 1000)
    return "".join(_DIGITS[milliseconds >> shift & 31] for shift in range(45, -1, -5))


def _written(line: dict[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
