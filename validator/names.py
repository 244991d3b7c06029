"""By which texts of an event of the core something is looked up: the ids of what it speaks about, at any depth."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from validator.protocol.glance import Keys

SILENT = frozenset({"runtime_id", "trace_id", "span_id"})
"""Identities that sessions share without having to do with one another: nothing is looked up by them."""
NAMED = ("bridge_id", "incident_id", "owner_id", "target_id", "from_id", "to_id", "output_ref", "permission_ref")
"""What things are looked up by beside the identities, and fields that end in the name of one."""
_IDENTITIES = (
    *("session_id", "thread_id", "turn_id", "task_id", "run_id", "attempt_id", "step_id", "tool_call_id", "action_id"),
    *("subagent_id", "artifact_id", "evidence_id", "request_id", "process_id", "channel_id", "job_id", "job_item_id"),
    *("queue_id", "stream_id"),
)
_ENDS = tuple(ending for name in (*_IDENTITIES, *NAMED) for ending in (name, f"{name}s"))


def names(value: Any, key: str = "") -> Iterable[str]:
    """Every text of a document by which something is looked up."""
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from names(entry, name)
    elif isinstance(value, list):
        for entry in value:
            yield from names(entry, key)
    elif isinstance(value, str) and is_name(key):
        yield value


def is_name(key: str) -> bool:
    """True when something may be looked up by what stands under a key."""
    return key.endswith(_ENDS) and key not in SILENT


def names_more(keys: Keys) -> bool:
    """True when the ids of an event itself are not all that it names, or some of them name nothing."""
    top = keys[0] if keys else ()
    own = any(key in SILENT or (key.endswith(_ENDS) and key not in _IDENTITIES) for key in top)
    return own or any(is_name(key) for inner in keys[1:] for key in inner)
