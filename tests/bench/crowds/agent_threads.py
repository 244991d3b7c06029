"""Streams of agent-threads in which there is very much of one thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.bench.crowds.written import CREATED, Event, header, snapshot, unknown

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ENDED = "2026-03-02T14:00:02.000Z"


def _ulid(number: int, first: str = "01KJQDJGZT") -> str:
    return first + "".join(_DIGITS[number >> shift & 31] for shift in range(75, -5, -5))


def _message_id(number: int) -> str:
    return _ulid(number, "01KJQDJJNQ")


def _record(number: int, status: str, thread: str = "t", fork: str | None = None, count: int = 0) -> Event:
    run, ended = _ulid(number), None if status in {"created", "streaming"} else _ENDED
    told = {"runId": run, "threadId": thread, "streamId": f"run:{run}", "forkFromMessageId": fork, "status": status}
    return {"record": "run", **told, "createdAt": CREATED, "finishedAt": ended, "messageCount": count}


def _stored(run: int, sequence: int, kind: str, payload: Event) -> Event:
    event = {"kind": kind, "payload": payload}
    return {"seq": sequence, "timestamp": CREATED, "streamId": f"run:{_ulid(run)}", "event": event}


def _asked(number: int, thread: str, status: str = "committed", fork: str | None = None) -> Iterator[Event]:
    """A run that says one message."""
    yield _record(number, "streaming", thread, fork)
    yield _stored(number, 1, "user-message", {"content": f"m{number}"})
    yield _record(number, status, thread, fork, int(status == "committed"))


def _message(number: int, parent: str | None, text: str) -> Event:
    metadata, parts = {"schemaVersion": 1}, [{"type": "text", "text": text}]
    told = {"id": _message_id(number), "parentMessageId": parent, "role": "user", "parts": parts}
    return {**told, "createdAt": CREATED, "metadata": metadata}


def _transcript(thread: str, messages: list[Event]) -> Event:
    return snapshot("transcript", {"threadId": thread, "branch": "active", "messages": messages})


def threads(events: int) -> Iterator[Event]:
    """Threads of one run each, with a transcript and a tree of each."""
    yield header("agent-threads")
    for number in range(events // 5):
        name, run = _message_id(number), _ulid(number)
        yield from _asked(number, f"t{number}")
        yield _transcript(f"t{number}", [_message(number, None, f"m{number}")])
        node = {"messageId": name, "parentMessageId": None, "role": "user", "runId": run, "runStatus": "committed"}
        yield snapshot("thread_tree", {"threadId": f"t{number}", "nodes": [node], "forkPoints": []})


def failed_runs_in_a_transcript(events: int) -> Iterator[Event]:
    """A thread of runs that failed, and a transcript that shows what they said."""
    yield header("agent-threads")
    for number in range(events // 4):
        yield from _asked(number, "t", "failed", _message_id(number - 1) if number else None)
    parents = [None, *map(_message_id, range(events // 4))]
    yield _transcript("t", [_message(number, parents[number], f"m{number}") for number in range(events // 4)])


def strange_messages(events: int) -> Iterator[Event]:
    """A run of many messages, and a transcript that shows as many others."""
    yield header("agent-threads")
    yield _record(0, "streaming")
    for number in range(1, events // 2):
        yield _stored(0, number, "user-message", {"content": f"m{number}"})
    yield _record(0, "committed", count=events // 2 - 1)
    yield _transcript("t", [_message(number, _message_id(0), f"x{number}") for number in range(1, events // 2)])


def superseded_runs(events: int) -> Iterator[Event]:
    """Runs that were superseded at one fork, and what became of each."""
    yield header("agent-threads")
    for number in range(events // 2):
        yield _record(number, "superseded", fork=_message_id(0), count=1)
    absent = {"honest": "unknown", "reason": "Nobody knows."}
    for number in range(events // 2):
        told = _record(number, "superseded", fork=_message_id(0), count=1)
        del told["record"]
        view = {**told, "supersededBy": absent, "lastSeq": absent, "pendingToolCallIds": absent}
        yield snapshot("run_view", view)


def commits(events: int) -> Iterator[Event]:
    """Runs that commit at one fork, one after the other."""
    yield header("agent-threads")
    for number in range(events // 2):
        yield _record(number, "streaming", fork=_message_id(0))
        yield _record(number, "committed", fork=_message_id(0))


def gaps_beside_open_runs(events: int) -> Iterator[Event]:
    """A stream that has lost every other event, and other runs that are open."""
    yield header("agent-threads")
    for number in range(events // 3):
        yield _record(number, "streaming", f"t{number}")
    for number in range(1, events // 3):
        yield _stored(0, 2 * number, "file", {"mimeType": "text/plain", "url": f"https://files.example/{number}"})


def short_transcripts(events: int) -> Iterator[Event]:
    """A thread of many runs, and transcripts of one message each."""
    yield header("agent-threads")
    for number in range(events // 4):
        yield from _asked(number, "t")
    for number in range(events // 4):
        yield _transcript("t", [_message(number, None, f"m{number}")])


def strange_transcripts(events: int) -> Iterator[Event]:
    """A thread of many runs, and transcripts of one message each that nobody said."""
    yield header("agent-threads")
    for number in range(events // 4):
        yield from _asked(number, "t")
    for number in range(events // 4):
        yield _transcript("t", [_message(number, None, f"x{number}")])


def short_trees(events: int) -> Iterator[Event]:
    """A thread of many runs, and trees of one message each."""
    yield header("agent-threads")
    for number in range(events // 4):
        yield from _asked(number, "t")
    for number in range(events // 4):
        yield _tree("t", [_node(number, None)])


def walks_in_a_tree(events: int) -> Iterator[Event]:
    """A tree of many answers to one message, and walks along it."""
    yield header("agent-threads")
    yield from _asked(0, "t")
    answers = [_node(number, 0) for number in range(1, events // 2)]
    children = [node["messageId"] for node in answers]
    fork = {"forkMessageId": _message_id(0), "children": children, "activeChildId": children[-1]}
    yield _tree("t", [_node(0, None), *answers], [fork])
    last = events // 2 - 1
    for _ in range(events // 2):
        yield _transcript("t", [_message(0, None, "m0"), _message(last, _message_id(0), f"m{last}")])


def transcripts_of_a_long_run(events: int) -> Iterator[Event]:
    """A run that goes on saying something, and an empty transcript after every message."""
    yield header("agent-threads")
    yield _record(0, "streaming")
    for number in range(1, events // 2):
        yield _stored(0, number, "user-message", {"content": f"m{number}"})
        yield _transcript("t", [])


def transcripts_of_a_long_text(events: int) -> Iterator[Event]:
    """A run whose one message grows, and a transcript of a strange message after every piece."""
    yield header("agent-threads")
    yield _record(0, "streaming")
    for number in range(1, events // 2):
        yield _stored(0, number, "text-delta", {"delta": "still the same answer "})
        yield _transcript("t", [_message(number, None, f"x{number}")])


def commits_told_again(events: int) -> Iterator[Event]:
    """A run of many messages and calls without results, and its last record again and again."""
    yield header("agent-threads")
    yield _record(0, "streaming")
    for number in range(1, events // 2, 2):
        yield _stored(0, number, "user-message", {"content": f"m{number}"})
        yield _stored(0, number + 1, "tool-call", {"toolCallId": f"c{number}", "toolName": "read", "input": {}})
    for _ in range(events // 2):
        yield _record(0, "committed", count=3)


def views_of_many_calls(events: int) -> Iterator[Event]:
    """A run with many calls that wait, and its view after each of them, without the calls."""
    yield header("agent-threads")
    yield _record(0, "streaming")
    told = _record(0, "streaming")
    del told["record"]
    for number in range(1, events // 2):
        yield _stored(0, number, "tool-call", {"toolCallId": f"c{number}", "toolName": "read", "input": {}})
        calls = unknown("Too many to tell.")
        yield snapshot("run_view", {**told, "supersededBy": None, "lastSeq": number, "pendingToolCallIds": calls})


def trees_of_other_messages(events: int) -> Iterator[Event]:
    """Trees of one thread that show another message each."""
    yield header("agent-threads")
    for number in range(events):
        yield _tree("t", [_node(number, None)])


def _node(number: int, parent: int | None) -> Event:
    above = None if parent is None else _message_id(parent)
    place = {"messageId": _message_id(number), "parentMessageId": above, "role": "user"}
    return {**place, "runId": _ulid(number), "runStatus": "committed"}


def _tree(thread: str, nodes: list[Event], forks: list[Event] | None = None) -> Event:
    return snapshot("thread_tree", {"threadId": thread, "nodes": nodes, "forkPoints": forks or []})


CROWDS: dict[str, Callable[[int], Iterator[Event]]] = {
    "threads with a transcript and a tree of each": threads,
    "failed runs in a transcript": failed_runs_in_a_transcript,
    "strange messages in a transcript": strange_messages,
    "superseded runs at one fork": superseded_runs,
    "commits at one fork": commits,
    "gaps beside open runs": gaps_beside_open_runs,
    "short transcripts of a long thread": short_transcripts,
    "strange transcripts of a long thread": strange_transcripts,
    "short trees of a long thread": short_trees,
    "walks in a large tree": walks_in_a_tree,
    "transcripts of a long run": transcripts_of_a_long_run,
    "transcripts of a long text": transcripts_of_a_long_text,
    "commits told again": commits_told_again,
    "views of a run with many calls": views_of_many_calls,
    "trees of other messages": trees_of_other_messages,
}
"""By what there is much of."""
