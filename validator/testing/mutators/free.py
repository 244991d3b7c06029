"""What of a served read model the stream before it does not settle, each with the reason."""

from __future__ import annotations

from typing import Any

from validator.protocol.honest import is_honest
from validator.rules.snapshot.view_differs import TIMES

NOT_WHOLE = {
    "channel-reconnect-with-gap": "events are missing, and the runtime can have seen them (RM-11)",
    "gap-with-open-work": "events are missing, and the runtime can have seen them (RM-11)",
    "reopened-session": "it begins in the middle, so only what is missing from a document can be told",
    "first-looks": "records of runs and none of their events, so only what is missing from a view can be told",
    "unexplained-pause": "runs whose first events were not captured, so only what is missing can be told",
    "stream-without-records": "no record of the run was captured; ATH021 judges what a view may say then",
}
"""Stories of which the capture does not hold everything, so that a value can be right and not be in it."""
FREE = {
    "agent-runtime": {
        "as_of_sequence": "the claim itself; RM-7, RM-8 and CONF-21 judge it",
        "freshness": "a snapshot says it about itself; RM-23 and RM-24 judge it",
        "freshness_reason": "free text",
        "session_id": "says which document it is",
        "thread_id": "says which document it is",
        "turn_id": "says which document it is",
        "caller": "says which document it is",
    },
    "agenthub": {"runId": "says which document it is"},
    "agent-threads": {"runId": "says which document it is"},
    "runagents": {"run_id": "says which document it is", "action_id": "says which document it is"},
}
"""Fields at the top of a document that are not compared."""
ELSEWHERE = {
    ("agent-threads", "thread_tree"): "ATH018 judges it by parts; its ids are the ledger's own",
    ("runagents", "approval_request"): "what the server keeps itself: no event tells its fields",
    ("runagents", "blocked_action"): "what the server keeps itself: no event tells its fields",
}
"""Documents that rules of their dialect judge by parts, or that are no read model."""
PARTLY = {("agent-threads", "transcript"): ("messages", {"parts": (), "metadata": ("schemaVersion",)})}
"""Of the entries of a list only these fields are settled, without some of their own: a message's id, place and time are
the ledger's, and so is the version of its shape. Which entries there are is for rules of the dialect (ATH020)."""


def settled(dialect: str, model: str, document: dict[str, Any]) -> dict[str, Any]:
    """What of a document the stream settles, each where it stands."""
    if (dialect, model) not in PARTLY:
        return {key: value for key, value in document.items() if not is_free(dialect, document, key)}
    name, fields = PARTLY[dialect, model]
    entries = document.get(name) if isinstance(document.get(name), list) else ()
    return {name: [_fields(entry, fields) for entry in entries]}


def _fields(entry: dict[str, Any], fields: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    found = {key: entry[key] for key in fields if key in entry}
    return {
        key: {part: inner for part, inner in value.items() if part not in fields[key]}
        if isinstance(value, dict) and not is_honest(value)
        else value
        for key, value in found.items()
    }


def is_free(dialect: str, document: dict[str, Any], name: str) -> bool:
    """True for a field at the top of a document that the stream does not settle.

    The times of a RunAgents run are those of its record; where no record told them, the server knows them better than
    the log, and a view without its conversation shows that there was none. Of a stream that was not captured only the
    messages of its run show that it is not empty.
    """
    if dialect == "agent-threads" and name == "lastSeq" and is_honest(document.get(name)):
        return not document.get("messageCount")
    if dialect == "runagents" and name in TIMES and is_honest(document.get("conversation_id")):
        return True
    return name in FREE[dialect]
