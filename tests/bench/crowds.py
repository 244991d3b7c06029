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


def commits(events: int) -> Iterator[Event]:
    """Runs that commit at one fork, one after the other."""
    yield _header("agent-threads")
    for number in range(events // 2):
        yield _record(number, "streaming", fork=_message_id(0))
        yield _record(number, "committed", fork=_message_id(0))


def gaps_beside_open_runs(events: int) -> Iterator[Event]:
    """A stream that has lost every other event, and other runs that are open."""
    yield _header("agent-threads")
    for number in range(events // 3):
        yield _record(number, "streaming", f"t{number}")
    for number in range(1, events // 3):
        yield _stored(0, 2 * number, "file", {"mimeType": "text/plain", "url": f"https://files.example/{number}"})


_CHECKS = ("workspaceAllowlist", "runtimeAvailability", "credentialBoundary")


class _Hub:
    """Tells the events of one AgentHub run, one after the other."""

    def __init__(self) -> None:
        self._sequence = 0

    def tell(self, kind: str, payload: Event) -> Event:
        self._sequence += 1
        head = {"id": f"e{self._sequence}", "sequence": self._sequence, "type": kind, "runId": "r", "sessionId": "s"}
        return {**head, "agentId": "a", "timestamp": _CREATED, "payload": payload}

    def begin(self, *allowed: str) -> Iterator[Event]:
        yield _header("agenthub")
        yield self.tell("run.created", {"task": {"id": "t", "title": "T"}, "actor": {"id": "u", "kind": "user"}})
        policy = {"id": "w", "access": "read_write", "allowlist": list(allowed)}
        yield self.tell("run.planned", {"workspacePolicy": policy})
        yield self.tell("run.accepted", {"edge": {"id": "e"}})
        yield self.tell("run.preparing", {"checks": {name: {"status": "passed"} for name in _CHECKS}})
        yield self.tell("run.started", {"runtime": {"adapter": "cli"}})

    def ask(self, number: int, kind: str, **more: object) -> Event:
        asked = {"approvalId": f"p{number}", "actionKind": kind, "summary": "Fetch the sample data", **more}
        return self.tell("run.approval.requested", asked)

    def approve(self, number: int) -> Event:
        decided = {"approvalId": f"p{number}", "decision": "approved", "basis": "explicit"}
        return self.tell("run.approval.resolved", {**decided, "actor": {"id": "u", "kind": "user"}})

    def call(self, number: int, tool: str, told: Event) -> Iterator[Event]:
        named = {"callId": f"c{number}", "toolName": tool}
        yield self.tell("run.tool.call", {**named, "input": told})
        yield self.tell("run.tool.result", {**named, "content": "done", "isError": False})

    def complete(self) -> Event:
        told = {"finalResponse": "Done.", "artifacts": [], "diffState": {"status": "none"}}
        return self.tell("run.completed", {**told, "metrics": {}, "audit": {"refs": []}, "transcriptRef": "tr://r"})


def commands_beside_approvals(events: int) -> Iterator[Event]:
    """A run with many approvals, and as many commands."""
    hub = _Hub()
    yield from hub.begin("docs")
    for number in range(events // 4):
        yield hub.ask(number, "shell" if number % 2 else "network", commandPreview=f"make part-{number}")
    for number in range(events // 4):
        yield hub.approve(number)
    for number in range(events // 4):
        yield from hub.call(number, "bash", {"command": f"make part-{number}"})


def patches(events: int) -> Iterator[Event]:
    """A run of many patches."""
    hub = _Hub()
    yield from hub.begin("docs")
    for number in range(events):
        told = {"patchId": f"d{number}", "affectedFiles": ["docs/a.md"], "applyStatus": "proposed"}
        yield hub.tell("run.patch.proposed", {**told, "summary": "Another word", "patchRef": f"patch://{number}"})


def reads(events: int) -> Iterator[Event]:
    """A run that may read many folders, and reads a file in each, by a tool and on record."""
    hub = _Hub()
    yield from hub.begin(*(f"d{number}" for number in range(events // 3)))
    for number in range(events // 3):
        yield from hub.call(number, "read_file", {"path": f"d{number}/a.md"})
        told = {"path": f"d{number}/a.md", "readAt": _CREATED, "previewRef": "preview://a", "sizeBytes": 3}
        yield hub.tell("run.file.read", told)
    yield hub.complete()


def _logged(sequence: int, kind: str, told: Event | None = None, **more: object) -> Event:
    head = {"event_id": f"e{sequence}", "run_id": "r", "seq": sequence, "type": kind, "timestamp": _CREATED}
    return {**head, "actor": "a", **({"data": told} if told else {}), **more}


def views_of_a_long_log(events: int) -> Iterator[Event]:
    """A run of RunAgents whose view is served after every event, without its history."""
    yield _header("runagents")
    yield _logged(1, "RUN_CREATED")
    absent = {"honest": "unknown", "reason": "Too long to tell."}
    names = ("agent_id", "user_id", "conversation_id", "initial_message", "created_at", "updated_at", "last_event")
    empty = dict.fromkeys(("ended_at", "ended_by", "reason", "last_error", "blocked_action_id", "pending_consent"))
    told = {"run_id": "r", "status": "RUNNING", **empty, **dict.fromkeys((*names, "events"), absent)}
    for number in range(2, events // 2):
        yield _logged(number, "AGENT_MESSAGE", {"content": "still at it"})
        yield _snapshot("run_view", {**told, "action_ids": [], "vocabulary": "api"})


def records_beside_blocked_actions(events: int) -> Iterator[Event]:
    """A run whose record names another action than the one that is blocked, and actions of other runs."""
    yield _header("runagents")
    for number in range(events // 2):
        told = {"action_id": f"a{number}", "run_id": f"r{number}", "tool_id": "mail", "status": "BLOCKED"}
        yield _snapshot("blocked_action", {**told, "created_at": _CREATED, "updated_at": _CREATED})
    origin = {"id": "r", "agent_id": "a", "user_id": "u", "created_at": _CREATED, "updated_at": _ENDED}
    for _ in range(events // 2):
        yield {"record": "run", **origin, "status": "PAUSED_APPROVAL", "blocked_action_id": "b"}


def waiting_actions(events: int) -> Iterator[Event]:
    """Actions of one run that are blocked, none of them decided, while its record names yet another."""
    yield _header("runagents")
    yield _logged(1, "RUN_CREATED")
    origin = {"id": "r", "agent_id": "a", "user_id": "u", "created_at": _CREATED, "updated_at": _ENDED}
    for number in range(2, events // 2):
        yield _logged(number, "APPROVAL_REQUIRED", {"action_id": f"a{number}", "tool_id": "mail"})
        yield {"record": "run", **origin, "status": "PAUSED_APPROVAL", "blocked_action_id": "b"}


CROWDS: dict[str, dict[str, Callable[[int], Iterator[Event]]]] = {
    "agent-threads/1": {
        "threads with a transcript and a tree of each": threads,
        "failed runs in a transcript": failed_runs_in_a_transcript,
        "strange messages in a transcript": strange_messages,
        "superseded runs at one fork": superseded_runs,
        "commits at one fork": commits,
        "gaps beside open runs": gaps_beside_open_runs,
    },
    "agenthub/1": {
        "commands beside approvals": commands_beside_approvals,
        "patches of one run": patches,
        "reads of many folders": reads,
    },
    "runagents/1": {
        "views of a long log": views_of_a_long_log,
        "records beside blocked actions": records_beside_blocked_actions,
        "actions that wait at once": waiting_actions,
    },
}
"""By dialect and by what there is much of."""
