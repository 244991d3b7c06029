"""A long conformant stream of the core, the same bytes every time.

The stories of the golden captures that lose nothing and leave nothing open are told again and again, each time in a
session of its own: ids of several shapes, a vendor's field on every event, and text with addresses, routes and
relative paths. A story is a template in which only the marks of its ids change, so making a stream costs little.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

from validator import resources
from validator.capture.lines import read_lines

STORIES = (
    "approval-granted",
    "approval-rejected",
    "cancellation-with-children",
    "channel-reconnect-with-replay",
    "compaction",
    "happy-path",
    "hooks",
    "job-with-retried-item",
    "output-spill",
    "permission-precedence",
    "queue",
    "quota-block",
    "reopened-session",
    "retry-after-failure",
    "rollback",
    "routing-fallback",
    "routing-no-candidate",
    "subagents",
    "timeout",
    "tool-outcomes",
)
_FLAGS = {"is_read_only": False, "is_destructive": False, "is_concurrency_safe": True}
_FAILED = {"retryable": False, "recovery": "none"}
_DETAILS: dict[str, dict[str, Any]] = {
    "action.required": {
        "decisions": ["approved", "allow", "modified", "answered", "denied", "deny"],
        "scope": {"kind": "once"},
    },
    "artifact.changed": {"read_ref": "artifact://report/1"},
    "context.compaction.completed": {"replacement_history_ref": "history://1"},
    "context.compaction.started": {"affected_turn_ids": []},
    "cost.recorded": {"usage": {"input_tokens": 120, "output_tokens": 40}},
    "hook.completed": {"duration_ms": 12},
    "job.failed": _FAILED,
    "job.item.failed": {"assignment": {"worker": "w1"}},
    "job.item.started": {"assignment": {"worker": "w1"}},
    "model.completed": {"usage": {"input_tokens": 120, "output_tokens": 40}, "stop_reason": "end_turn"},
    "model.requested": {"provider": "acme"},
    "output.redacted": {"owner": "tool_call", "owner_id": "tc_1"},
    "permission.evaluated": {"rule_refs": ["rule://default"]},
    "process.failed": _FAILED,
    "process.started": {
        "cwd": "app",
        "cwd_validated": True,
        "subcommands": [],
        "destructive": False,
        "network": "none",
        "justification": "The tests have to run.",
    },
    "quota.blocked": {"retry_after_ms": 60000},
    "quota.low": {"retry_after_ms": 60000},
    "routing.single_candidate": {"decision_reason": "One model is left."},
    "sandbox.applied": {"process_limits": {"max_processes": 8}, "write_roots": ["out"]},
    "tool.started": {**_FLAGS, "policy": {"decision": "allow"}},
    "turn.failed": {**_FAILED, "interrupted_by": "user"},
    "turn.submitted": {"source": "workspace"},
}
"""What events ought to tell and the stories leave out."""
_MARK = "@mark@"
_ID = re.compile(r"_(?:id|ref)s?$")
_SHAPES = ("_{0}", "-{0:x}", ":{0}/run", ".{0:06d}", "_{0}_ünï")
"""Ids are free text: counted, hexadecimal, with colons and slashes, padded, beyond ASCII."""
_NOTES = (
    "See https://docs.example.org/guide/streams?page=2#order and docs/guide.md.",
    "GET /v1/runs/42 answered 200 in 31 ms; retries: 0.",
    "Diff of src/app/main.py: 12 lines added, 3 removed; tests/test_main.py passes.",
    "The ratio is 3/4, the date 2026/05/08, the route /api/items/{id}.",
    "Read README.md, then lib/core/index.ts; nothing else changed.",
)


def lines(events: int) -> Iterator[bytes]:
    """As many lines as asked for, one event each, with whole stories; the last story ends the stream."""
    written = 0
    for number in count():
        told = template(STORIES[number % len(STORIES)])
        for line in told:
            yield line.replace(_MARK, mark(number)).replace("@note@", note(number)).encode() + b"\n"
        written += len(told)
        if written >= events:
            return


def mark(number: int) -> str:
    """What tells the ids of one story from those of the others."""
    return _SHAPES[number % len(_SHAPES)].format(number)


def note(number: int) -> str:
    """What the vendor says beside the events of a story."""
    return _NOTES[number % len(_NOTES)]


@cache
def template(story: str) -> list[str]:
    """The lines of a story with places for marks and notes."""
    path = resources.fixtures() / "agent-runtime" / "0.3" / "golden" / f"{story}.ndjson"
    told = [_detailed(line) for _, line in read_lines(path) if "record" not in line]
    ids = {found for line in told for found in _ids(line, "")}
    vendor = {"acme_trace": {"note": "@note@", "attempt": 1, "url": "https://trace.example/t/" + _MARK}}
    return [json.dumps({**_marked(line, ids), **vendor}, separators=(",", ":"), ensure_ascii=False) for line in told]


def _detailed(event: dict[str, Any]) -> dict[str, Any]:
    payload = {**_DETAILS.get(event["type"], {}), **event.get("payload", {})}
    for tool in payload.get("tools", ()):
        tool.update({**_FLAGS, **tool})
    if isinstance(edge := payload.get("relationship"), dict):
        payload["relationship"] = {"created_at": event["timestamp"], "updated_at": event["timestamp"], **edge}
    return {**event, "payload": payload} if payload else event


def _ids(value: Any, key: str) -> Iterator[str]:
    """Every string that stands under a name for ids or references."""
    if isinstance(value, dict):
        for name, sub in value.items():
            yield from _ids(sub, name)
    elif isinstance(value, list):
        for sub in value:
            yield from _ids(sub, key)
    elif isinstance(value, str) and _ID.search(key):
        yield value


def _marked(value: Any, ids: set[str]) -> Any:
    if isinstance(value, dict):
        return {_marked(key, ids): _marked(sub, ids) for key, sub in value.items()}
    if isinstance(value, list):
        return [_marked(sub, ids) for sub in value]
    return value + _MARK if isinstance(value, str) and value in ids else value
