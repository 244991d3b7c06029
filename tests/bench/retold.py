"""Golden captures told again and again, each time with ids of their own: work that is over grows, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count, cycle
from typing import Any

from validator import resources

_ID = re.compile(r".*(?:Id|_id|Ids|_ids|Ref|_ref)|id|idempotency_key|resume_token|cursor")
_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


CLOSED = {
    "agent-runtime/0.3": ("approval-granted", "cancellation-with-children", "queue", "retry-after-failure"),
    "agenthub/1": ("approvals-granted", "parallel-one-rejected", "runtime-timeout", "whole-lifecycle"),
    "runagents/1": ("approval-granted-api", "audit-export", "consent-then-approval", "rejected-operations"),
    "agent-threads/1": ("committed-with-tools", "null-forks-both-stay", "records-redelivered", "regenerated-twice"),
}
"""Stories that leave nothing open, those of the core with commands."""


def retellings(protocol: str) -> Iterator[bytes]:
    """The lines of a protocol's closed stories, told anew without end."""
    for story in retold(protocol, *CLOSED[protocol]):
        yield from story


def retold(protocol: str, *stories: str) -> Iterator[list[bytes]]:
    """The lines of each story, told anew without end; a header is left out."""
    told = [_story(protocol, story) for story in stories]
    for turn, (lines, ids) in zip(count(), cycle(told), strict=False):
        text = "".join(lines)
        for name in ids:
            text = text.replace(*_renamed(name, turn))
        yield [line.encode() + b"\n" for line in text.splitlines()]


def _story(protocol: str, story: str) -> tuple[list[str], list[str]]:
    path = resources.fixtures() / protocol / "golden" / f"{story}.ndjson"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [line for line in lines if line.get("record") != "header"]
    found = {name for line in kept for name in _ids(line)}
    return [json.dumps(line, separators=(",", ":")) + "\n" for line in kept], sorted(found, key=len, reverse=True)


def _ids(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _ids(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _ids(inner, key)
    elif isinstance(value, str) and _ID.fullmatch(key):
        yield from _ULID.findall(value) or [value]


def _renamed(name: str, turn: int) -> tuple[str, str]:
    if _ULID.fullmatch(name):
        tail = "".join(_DIGITS[turn >> shift & 31] for shift in (15, 10, 5, 0))
        return name, name[:-4] + tail
    return json.dumps(name), json.dumps(f"{name}-{turn}")
