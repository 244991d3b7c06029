"""What callers send: the shape of every body and query, made of the fields of the contract's own records.

A field keeps the meaning and the limits that its record gives it; what is said here is which ones a caller may give,
and which ones have to be there.
"""

from __future__ import annotations

import functools
from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.runagents.history import CONTRACT
from validator.protocol.authority import FORMATS, Validator
from validator.protocol.schemas import BASE, describe, json_pointer, leaves

Schema = dict[str, Any]
RECORDS = f"{BASE}runagents/1/records"
EVENT = f"{BASE}runagents/1/envelope.schema.json"
_NUMBER = {"type": "string", "pattern": "^[0-9]{1,9}$", "maxLength": 9}


def _field(record: str, name: str) -> Schema:
    return {"$ref": f"{RECORDS}/{record}.schema.json#/properties/{name}"}


def _made(required: tuple[str, ...] = (), **fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def _of(record: str, *names: str) -> dict[str, Schema]:
    return {name: _field(record, name) for name in names}


_RUN = ("agent_id", "user_id", "conversation_id", "surface_turn_id", "namespace", "invoke_url", "initial_message")
_CALL = _of("approval_request", "tool_id", "capability", "tool_url")
_HASHED = _of("approval_request", "tool_method", "payload_hash")
_PAYLOAD: Schema = {"description": "The body of the call; it is hashed, and never logged."}
_DURATION = {"description": "How long the approval holds.", "type": "string", "pattern": "^[0-9]{1,4}[smhd]$"}
_TOLD = ("type", "actor", "payload_hash", "data")
_TEXT = {"type": "string", "minLength": 1, "maxLength": 2000}

_DECISION = _of("approval_request", "approver_id") | {"reason": {**_TEXT, "description": "Why it is decided so."}}

BODIES: dict[str, Schema] = {
    "create_run": _made(("agent_id", "user_id"), **_of("run", *_RUN)),
    "set_status": _made(
        ("status",),
        status={"description": "The status to set.", "enum": ["COMPLETED", "FAILED", "PAUSED_APPROVAL", "RUNNING"]},
        error={**_TEXT, "description": "Why the run failed."},
    ),
    "append_event": _made(
        ("type",),
        **{name: {"$ref": f"{EVENT}#/properties/{name}"} for name in ("type", "actor", "payload_hash", "data")},
    ),
    "block_action": {
        **_made(
            ("tool_id", "capability"),
            **_CALL,
            **_of("approval_request", "tool_method", "payload_hash"),
            payload=_PAYLOAD,
        ),
        "oneOf": [{"required": ["payload"]}, {"required": ["payload_hash"]}],
    },
    "call_tool": _made(("tool_id", "capability"), **_CALL, payload=_PAYLOAD),
    "approve": _made(
        ("approver_id",), **_DECISION, **_of("approval_request", "scope", "payload_hash"), duration=_DURATION
    ),
    "reject": _made(("approver_id",), **_DECISION),
    "ask_consent": _made(
        ("tool_id", "authorization_url"),
        **_of("approval_request", "tool_id", "capability"),
        authorization_url={**_TEXT, "description": "Where the user gives consent."},
    ),
    "settle_consent": _made(("completed",), completed={"description": "Whether it was given.", "type": "boolean"}),
    "keep_checkpoint": _made(("action_id", "payload"), **_of("blocked_action", "action_id"), payload=_PAYLOAD),
    "forward": _made(
        ("destination_id",),
        destination_id={**_TEXT, "description": "A destination from the settings."},
        schema={"description": "The shape that is forwarded.", "enum": ["splunk_hec"]},
    ),
}
_LIMIT = {**_NUMBER, "description": "How many at most."}
QUERIES: dict[str, Schema] = {
    "list_runs": _made(
        **_of("run", "status", "agent_id", "user_id", "conversation_id"),
        limit=_LIMIT,
        after={**_TEXT, "description": "The run behind which the list begins."},
    ),
    "list_events": _made(after_seq={**_NUMBER, "description": "The last event that the caller has."}, limit=_LIMIT),
    "list_requests": _made(**_of("approval_request", "status", "run_id")),
    "export": _made(
        format={"description": "One document, or one object per line.", "enum": ["json", "ndjson"]},
        schema={"description": "The shape of a line.", "enum": ["runagents", "splunk_hec"]},
    ),
}


@functools.cache
def _validator(kind: str, name: str) -> Any:
    schema = (BODIES if kind == "body" else QUERIES)[name]
    return Validator(schema, registry=CONTRACT.protocol.store.registry, format_checker=FORMATS)


def check(kind: str, name: str, document: Any) -> None:
    """Refuses a body or a query that does not fit; values are never repeated."""
    found = [leaf for error in _validator(kind, name).iter_errors(document) for leaf in leaves(error)]
    if found:
        said = sorted({f"{json_pointer(leaf.absolute_path) or '/'} {describe(leaf)}" for leaf in found})
        raise CommandRejected("invalid_request", "; ".join(said), category="invalid_request")
