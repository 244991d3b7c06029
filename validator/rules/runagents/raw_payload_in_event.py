"""An event carries a body, the arguments of a call, headers or a credential.

Why: the log is handed to auditors and indexers; what stands in it is out of the platform's control.
Trips: TOOL_REQUEST with data.arguments.  Near miss: TOOL_REQUEST with a payload_hash and no arguments.
Fix: Drop the key and let the payload hash stand in its place.
"""

from validator.protocol.honest import is_honest
from validator.redact import is_marker, masked_pointer
from validator.rules import finding, rule, seen


class RawKeys:
    """The keys that an audit event never carries, each with its clause."""

    def __init__(self, world):
        rows = world.protocol.tables["raw_keys"]["rows"]
        self.rows = {_run_together(key): (key, row["clause"]) for row in rows for key in row["values"]["keys"]}

    def apply(self, step):
        """Learns nothing: the table says it all."""


@rule("RAG017", "raw-payload-in-event", clauses={"runagents": ("RA-130", "RA-131")}, on="*", needs=(RawKeys,))
def check(step, world, context):
    data = step.line.get("data")
    if not isinstance(data, dict):
        return
    yield seen()
    for segments, value in _walk(data, ("data",)):
        key, clause = world.ledger(RawKeys).rows.get(_run_together(str(segments[-1])), ("", None))
        if clause and value not in (None, "") and not is_honest(value) and not is_marker(value):
            pointer = masked_pointer(segments, context.canaries)
            yield finding(step, "a hash, or nothing", f"the key {key}", pointer=pointer, clause=clause, key=key)


def _run_together(key):
    """A key without what tells its words apart, so that accessToken, access-token and access_token are one."""
    return key.lower().replace("-", "").replace("_", "")


def _walk(value, segments):
    """Every key of a document with its place and value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in pairs:
        here = (*segments, key)
        if isinstance(value, dict):
            yield here, entry
        yield from _walk(entry, here)
