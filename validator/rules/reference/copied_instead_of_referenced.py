"""Bytes that belong behind a reference were copied into an event.

Why: an event with a picture, a file or a provider's raw answer in it is stored, forwarded and shown by everybody.
Trips: process.output of the stream binary with text.  Near miss: the same output behind output_ref.
Fix: Store the bytes with their owner, and carry the reference.
"""

from validator.rules import finding, rule, seen

PEER = ("remote_artifacts", "artifacts")
"""What a peer delivered, by value."""
COPIES = {
    "artifact.changed": ("ART-2", ("content", "bytes", "data", "body", "base64")),
    "model.requested": ("MOD-9", ("raw_request", "raw", "request", "messages")),
    "model.completed": ("MOD-9", ("raw_response", "raw", "response")),
    "channel.peer_task.linked": ("CHAN-34", PEER),
    "channel.peer_task.updated": ("CHAN-34", PEER),
}


def referenced(step, world, context):
    """The key of an event without any field that could hold a copy: its type."""
    payload = step.line.get("payload")
    if not isinstance(payload, dict):
        return False
    if step.type in ("model.requested", "model.completed"):
        return step.type if _HELD[step.type].isdisjoint(payload) else None
    return step.type if step.type == "process.output" and not _is_binary(payload) else None


_HELD = {kind: frozenset(names) for kind, (_, names) in COPIES.items()}


def _is_binary(payload):
    return payload.get("stream") == "binary" or payload.get("encoding") in ("binary", "base64")


@rule(
    "REF015",
    "copied-instead-of-referenced",
    clauses={"agent-runtime": ("OUT-10", "ART-2", "MOD-9", "CHAN-34")},
    on=(*COPIES, "process.output", "output.*"),
    quiet=referenced,
)
def check(step, world, context):
    payload = step.line.get("payload")
    if not isinstance(payload, dict):
        return
    if step.type in COPIES:
        clause, names = COPIES[step.type]
        yield seen(clause)
        inner = payload.get("peer_task") if names is PEER else payload
        place = "/payload/peer_task" if names is PEER else "/payload"
        for name in names if isinstance(inner, dict) else ():
            if isinstance(inner.get(name), dict | list | str):
                expected, actual = "a reference", "a copy"
                yield finding(step, expected, actual, clause=clause, pointer=f"{place}/{name}", key=name)
        return
    for name in ("text", "preview") if _is_binary(payload) else ():
        if payload.get(name):
            expected, actual = "binary data behind a reference", "inline"
            yield finding(step, expected, actual, clause="OUT-10", pointer=f"/payload/{name}", key=name)
    yield seen("OUT-10")
