"""A payload hash is not a SHA-256 digest in full.

Why: the hash ties the call that was blocked to the decision and to the retry; cut short, it ties them less firmly.
Trips: APPROVAL_REQUIRED with the hash sha256:9f86d0.  Near miss: the whole digest, with or without its prefix.
Fix: Write all 64 digits in lower case.
"""

from validator.protocol.regex import compiled
from validator.rules import finding, rule, seen

RECORDS = ("approval_request", "blocked_action")
_FORM = r"(?:sha256:)?[0-9a-f]{64}"


@rule("RAG027", "hash-form", clauses={"runagents": "RA-85"}, on=("*", "record:snapshot"), given=("payload_hash",))
def check(step, world, context):
    record = step.line.get("snapshot") if step.type in RECORDS else step.line
    given = record.get("payload_hash") if isinstance(record, dict) else None
    if not given or not isinstance(given, str):
        return
    yield seen()
    if not compiled(_FORM).fullmatch(given):
        pointer = "/payload_hash" if step.kind == "event" else "/snapshot/payload_hash"
        yield finding(step, "64 lower-case hexadecimal digits", "another form", pointer=pointer)
