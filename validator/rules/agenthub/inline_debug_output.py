"""Raw runtime output stands in the event instead of behind a reference.

Why: events are rendered for everybody in a session; raw output is for whoever debugs, and may be asked for by its
reference.
Trips: a debugAttachment with a field `content`.  Near miss: a debugAttachment with `ref` and `mediaType`.
Fix: Store the output and name it in `ref`.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import entity, payload

_INLINE = ("base64", "body", "content", "data", "inline", "output", "raw", "stderr", "stdout", "text")


@rule("AHB030", "inline-debug-output", clauses={"agenthub": "AH-14"}, on="*")
def check(step, world, context):
    attachment = payload(step).get("debugAttachment")
    if not isinstance(attachment, dict):
        return
    yield seen()
    for name in _INLINE:
        if attachment.get(name):
            pointer = f"/payload/debugAttachment/{name}"
            yield finding(step, "a reference only", "inline output", pointer=pointer, entity=entity(step), key="inline")
