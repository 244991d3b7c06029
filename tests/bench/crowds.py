"""Streams of the three dialects in which there is very much of one thing, by what there is much of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Event = dict[str, Any]
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CREATED, _ENDED = "2026-03-02T14:00:00.000Z", "2026-03-02T14:00:02.000Z"


def _ulid(number: int, first: str = "01KJQDJGZT") -> str:
    return first + "".join(_DIGITS[number >> shift & 31] for shift in range(75, -5, -5))


def _message_id(number: int) -> str:
    return _ulid(number, "01KJQDJJNQ")


def _header(protocol: str) -> Event:
    return {"record": "header", "capture": "1", "protocol": protocol, "version": "1", "completeness": "complete"}


def _snapshot(model: str, document: Event) -> Event:
    return {"record": "snapshot", "model": model, "snapshot": document}


def _record(number: int, status: str, thread: str = "t", fork: str | None = None, count: int = 0) -> Event:
    run, ended = _ulid(number), None if status in {"created", "streaming"} else _ENDED
    told = {"runId": run, "threadId": thread, "streamId": f"run:{run}", "forkFromMessageId": fork, "status": status}
    return {"record": "run", **told, "createdAt": _CREATED, "finishedAt": ended, "messageCount": count}


def _stored(run: int, sequence: int, kind: str, payload: Event) -> Event:
    event = {"kind": kind, "payload": payload}
    return {"seq": sequence, "timestamp": _CREATED, "streamId": f"run:{_ulid(run)}", "event": event}


def _asked(number: int, thread: str, status: str = "committed", fork: str | None = None) -> Iterator[Event]:
    """A run that says one message."""
    yield _record(number, "streaming", thread, fork)
    yield _stored(number, 1, "user-message", {"content": f"m{number}"})
    yield _record(number, status, thread, fork, int(status == "committed"))


def _message(number: int, parent: str | None, text: str) -> Event:
    metadata, parts = {"schemaVersion": 1}, [{"type": "text", "text": text}]
    told = {"id": _message_id(number), "parentMessageId": parent, "role": "user", "parts": parts}
    return {**told, "createdAt": _CREATED, "metadata": metadata}


def _transcript(thread: str, messages: list[Event]) -> Event:
    return _snapshot("transcript", {"threadId": thread, "branch": "active", "messages": messages})


def threads(events: int) -> Iterator[Event]:
    """Threads of one run each, with a transcript and a tree of each."""
    yield _header("agent-threads")
    for number in range(events // 5):
        name, run = _message_id(number), _ulid(number)
        yield from _asked(number, f"t{number}")
        yield _transcript(f"t{number}", [_message(number, None, f"m{number}")])
        node = {"messageId": name, "parentMessageId": None, "role": "user", "runId": run, "runStatus": "committed"}
        yield _snapshot("thread_tree", {"threadId": f"t{number}", "nodes": [node], "forkPoints": []})


def failed_runs_in_a_transcript(events: int) -> Iterator[Event]:
    """A thread of runs that failed, and a transcript that shows what they said."""
    yield _header("agent-threads")
    for number in range(events // 4):
        yield from _asked(number, "t", "failed", _message_id(number - 1) if number else None)
    parents = [None, *map(_message_id, range(events // 4))]
    yield _transcript("t", [_message(number, parents[number], f"m{number}") for number in range(events // 4)])


def strange_messages(events: int) -> Iterator[Event]:
    """A run of many messages, and a transcript that shows as many others."""
    yield _header("agent-threads")
    yield _record(0, "streaming")
    for number in range(1, events // 2):
        yield _stored(0, number, "user-message", {"content": f"m{number}"})
    yield _record(0, "committed", count=events // 2 - 1)
    yield _transcript("t", [_message(number, _message_id(0), f"x{number}") for number in range(1, events // 2)])


def superseded_runs(events: int) -> Iterator[Event]:
    """Runs that were superseded at one fork, and what became of each."""
    yield _header("agent-threads")
    for number in range(events // 2):
        yield _record(number, "superseded", fork=_message_id(0), count=1)
    absent = {"honest": "unknown", "reason": "Nobody knows."}
    for number in range(events // 2):
        told = _record(number, "superseded", fork=_message_id(0), count=1)
        del told["record"]
        view = {**told, "supersededBy": absent, "lastSeq": absent, "pendingToolCallIds": absent}
        yield _snapshot("run_view", view)


def gaps_beside_open_runs(events: int) -> Iterator[Event]:
    """A stream that has lost every other event, and other runs that are open."""
    yield _header("agent-threads")
    for number in range(events // 3):
        yield _record(number, "streaming", f"t{number}")
    for number in range(1, events // 3):
        yield _stored(0, 2 * number, "file", {"mimeType": "text/plain", "url": f"https://files.example/{number}"})


CROWDS: dict[str, Callable[[int], Iterator[Event]]] = {
    "threads with a transcript and a tree of each": threads,
    "failed runs in a transcript": failed_runs_in_a_transcript,
    "strange messages in a transcript": strange_messages,
    "superseded runs at one fork": superseded_runs,
    "gaps beside open runs": gaps_beside_open_runs,
}
"""Each by what there is much of."""
