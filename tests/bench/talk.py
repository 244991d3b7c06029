"""The stream that is measured: six sessions at a time, most of it streamed text, and every story in between.

Shares are those of real streams: about 60 % pieces of text, 15 % tool calls and what decides about them, 10 % output of
processes, the rest lifecycle. A conversation asks a model, reads what it says piece by piece, runs a command that it
asked for, and goes on. After every six conversations four of the stories of `stream.py` are told, so that all families
occur. Ids, vendor fields and notes are those of `stream.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

from tests.bench import stream

ROUNDS, PIECES, OUTPUTS = 4, 30, 5
AT_ONCE, STORIES, TURN = 6, 4, 3
_TEXT = (
    "The file is read first; then a summary is written in two lines. See docs/guide.md and "
    "https://docs.example.org/guide?page=2#order for what GET /v1/runs/42 answers, or lib/core/index.ts, 3/4 of it."
)
_WORDS = _TEXT.split()
_USAGE = {"input_tokens": 1840, "output_tokens": 40, "cached_tokens": 0, "total_tokens": 1880}
_CANDIDATES = [{"provider": "acme", "model": model, "cost_class": "low"} for model in ("acme-large", "acme-small")]
_DECIDED = {
    "routing_mode": "multi_candidate",
    "decision_source": "policy_auto",
    "decision_reason": "Cheapest that can call tools.",
    "selected_provider": "acme",
    "selected_model": "acme-large",
    "capability_gap": "none",
    "candidate_count": 2,
}
_MARK = "@mark@"


def lines(events: int, arguments: int = 0) -> Iterator[bytes]:
    """As many lines as asked for, one event each; the last conversations and stories end the stream.

    The arguments of a call may come in pieces.
    """
    written = 0
    for first in count(0, AT_ONCE + STORIES):
        told = [list(_told(_conversation(PIECES, arguments), first + index)) for index in range(AT_ONCE)]
        told += [list(_told(_story(first + index), first + index)) for index in range(AT_ONCE, AT_ONCE + STORIES)]
        for line in interleaved(told):
            yield line
            written += 1
        if written >= events:
            return


def one_by_one(events: int, pieces: int) -> Iterator[bytes]:
    """Conversations one after the other, whose answers have more pieces; each in a session of its own."""
    written = 0
    for number in count(0, AT_ONCE + STORIES):
        for line in _told(_conversation(pieces), number):
            yield line
            written += 1
        if written >= events:
            return


def interleaved(told: list[list[bytes]]) -> Iterator[bytes]:
    """Some lines of each in turn, while there are any; a story begins when a conversation has ended."""
    waiting = [iter(entry) for entry in told]
    speaking = [waiting.pop(0) for _ in range(AT_ONCE)]
    while speaking:
        for one in list(speaking):
            for _ in range(TURN):
                line = next(one, None)
                if line is None:
                    speaking.remove(one)
                    speaking += [waiting.pop(0)] if waiting else []
                    break
                yield line


def _told(template: list[str], number: int) -> Iterator[bytes]:
    mark = stream.mark(number)
    for line in template:
        yield line.replace(_MARK, mark).replace("@note@", stream.note(number)).encode() + b"\n"


def _story(number: int) -> list[str]:
    turn = number // (AT_ONCE + STORIES) * STORIES + number % (AT_ONCE + STORIES) - AT_ONCE
    return stream.template(stream.STORIES[turn % len(stream.STORIES)])


@cache
def _conversation(pieces: int, arguments: int = 0) -> list[str]:
    told: list[dict[str, Any]] = []
    vendor = {"acme_trace": {"note": "@note@", "attempt": 1, "url": "https://trace.example/t/" + _MARK}}
    for number, (kind, ids, payload) in enumerate(_events(pieces, arguments), start=1):
        stamp = f"2026-05-08T09:{number // 600 % 60:02d}:{number // 10 % 60:02d}.{number % 10}00Z"
        head = {"type": kind, "event_id": f"evt_talk{_MARK}_{number:04d}", "timestamp": stamp, "sequence": number}
        named = {name: value + _MARK for name, value in {"session_id": "ses", **ids}.items()}
        told.append({**head, **named, "payload": payload, **vendor})
    return [json.dumps(event, separators=(",", ":"), ensure_ascii=False) for event in told]


Told = tuple[str, dict[str, str], dict[str, Any]]
"""Type, ids beside the session, and payload."""


def _events(pieces: int, arguments: int) -> Iterator[Told]:
    thread, turn = {"thread_id": "thr"}, {"thread_id": "thr", "turn_id": "turn"}
    yield "session.created", {}, {"title": "A long talk", "workspace_id": "ws", "created_at": "2026-05-08T09:00:00Z"}
    yield "thread.started", thread, {"title": "Main"}
    yield "turn.submitted", turn, {"status": "accepted", "input_ref": "input://turn" + _MARK, "source": "workspace"}
    yield "turn.started", turn, {"status": "preparing"}
    yield "routing.candidates.resolved", turn, {"candidate_count": 2, "candidates": _CANDIDATES}
    yield "routing.decided", turn, _DECIDED
    for index in range(ROUNDS):
        yield from _said(index, {**turn, "model_request_id": f"mr{index}"}, pieces)
        yield from _done({**turn, "tool_call_id": f"tc{index}"}, {"step_id": f"st{index}"}, f"pr{index}", arguments)
    total = {name: ROUNDS * value for name, value in _USAGE.items()}
    yield "turn.completed", turn, {"summary": "Summarised and checked.", "usage": total}


def _said(index: int, ids: dict[str, str], pieces: int) -> Iterator[Told]:
    raw = f"raw://mr{index}{_MARK}"
    yield "model.requested", ids, {"provider": "acme", "model": "acme-large", "raw_request_ref": raw}
    for number in range(pieces):
        yield "model.delta", ids, {"delta": piece(index * 7 + number * 3), "index": 0}
    yield "model.completed", ids, {"usage": _USAGE, "stop_reason": "tool_use"}


def piece(number: int) -> str:
    """A few words of what the model says."""
    start = number % len(_WORDS)
    return " ".join(_WORDS[start : start + 4]) + " "


def _done(call: dict[str, str], step: dict[str, str], name: str, arguments: int) -> Iterator[Told]:
    key = call["tool_call_id"] + _MARK
    process = {**call, "process_id": name}
    rule = {"decision_source": "rule", "rule_refs": ["rule://workspace-commands"], "target_kind": "tool"}
    yield "permission.evaluated", call, {"decision": "allow", "decision_reason": "Allowed here.", **rule}
    flags = {"is_read_only": False, "is_destructive": False, "is_concurrency_safe": False, "policy": "allowed"}
    yield "tool.started", {**call, **step}, {"tool_name": "shell", "args_ref": f"args://{key}", **flags}
    for number in range(arguments):
        yield "tool.args", call, {"delta": f'{{"note": "{piece(number)}", "path": "docs/guide'}
    limits = {"process_limits": {"timeout_ms": 600000, "max_processes": 16}, "network": "restricted"}
    roots = {"cwd": ".", "read_roots": ["."], "write_roots": ["build"]}
    yield "sandbox.applied", call, {"mode": "workspace_write", **roots, **limits}
    facts = {"cwd_validated": True, "subcommands": ["make check"], "destructive": False, "network": "restricted"}
    refs = {"sandbox_ref": f"sandbox://{key}", "permission_ref": f"permission://{key}", "justification": "Asked for."}
    yield "process.started", process, {"command": "make check", "tty": False, "cwd": ".", **facts, **refs}
    offset = 0
    for part in range(OUTPUTS):
        text = "".join(f"tests/unit/test_{(part * 5 + i) % 17}.py::test_case PASSED in {i} ms\n" for i in range(6))
        yield "process.output", process, {"stream": "stdout", "text": text, "offset": offset, "size_bytes": len(text)}
        offset += len(text)
    yield "process.completed", process, {"exit_code": 0, "duration_ms": 100}
    for percent in (40, 80):
        yield "tool.progress", {**call, **step}, {"percent": percent, "message": "Reading the report."}
    result = {"output_ref": f"output://{key}", "preview": "all passed", "size_bytes": 4210, "duration_ms": 12}
    yield "tool.result", {**call, **step}, result
