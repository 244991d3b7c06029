"""An event carries a body, the arguments of a call, headers or a credential.

Why: the log is handed to auditors and indexers; what stands in it is out of the platform's control.
Trips: TOOL_REQUEST with data.arguments.  Near miss: TOOL_REQUEST with a payload_hash and no arguments.
Fix: Drop the key and let the payload hash stand in its place.
"""

from validator.protocol.honest import is_honest
from validator.rules import finding, rule, seen


class RawKeys:
    """The keys that an audit event never carries, each with its clause."""

    def __init__(self, world):
        rows = world.protocol.tables["raw_keys"]["rows"]
        self.clause = {key: row["clause"] for row in rows for key in row["values"]["keys"]}

    def apply(self, step):
        """Learns nothing: the table says it all."""


@rule("RAG017", "raw-payload-in-event", clauses={"runagents": ("RA-130", "RA-131")}, on="*", needs=(RawKeys,))
def check(step, world, context):
    data = step.line.get("data")
    if not isinstance(data, dict):
        return
    yield seen()
    for key, place, value in _walk(data, "/data"):
        clause = world.ledger(RawKeys).clause.get(key.lower().replace("-", "_"))
        if clause and value not in (None, "") and not is_honest(value):
            yield finding(step, "a hash, or nothing", f"the key {key}", pointer=place, clause=clause, key=key.lower())


def _walk(value, place):
    if isinstance(value, dict):
        for key, entry in value.items():
            below = f"{place}/{key.replace('~', '~0').replace('/', '~1')}"
            yield key, below, entry
            yield from _walk(entry, below)
    elif isinstance(value, list):
        for at, entry in enumerate(value):
            yield from _walk(entry, f"{place}/{at}")
