"""An id or a decision was replaced by a redaction marker.

Why: a stream that was redacted has to replay to the same states; two subjects that share a marker become one.
Trips: task.created whose task_id is a marker.  Near miss: a redacted objective, and the id as it was.
Fix: Redact text and values only; where an id itself is private, give another id that is the same everywhere.
"""

from validator.protocol.glance import glance
from validator.redact import is_marker, masked_pointer
from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, unmarked


@rule("RED017", "redacted-identity", clauses={"agent-runtime": "RED-23"}, on=TOLD, needs=(Leaks,), quiet=unmarked)
def check(step, world, context):
    if not any(map(is_marker, glance(step.line)[1])):
        return
    yield seen()
    for segments, key, value in _values(step.line, (), ""):
        if is_marker(value) and _names(key, world):
            pointer = masked_pointer(segments, context.canaries)
            yield finding(step, "the id or decision as it is", "a redaction marker", pointer=pointer)


def _names(key, world):
    return key in world.protocol.identities or key == "decision" or key.endswith(("_id", "_ids"))


def _values(value, segments, key):
    """Every text of a document with its place and the key it stands under."""
    if isinstance(value, dict):
        for name, sub in value.items():
            yield from _values(sub, (*segments, name), name)
    elif isinstance(value, list):
        for index, sub in enumerate(value):
            yield from _values(sub, (*segments, index), key)
    elif isinstance(value, str):
        yield segments, key, value
