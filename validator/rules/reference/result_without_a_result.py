"""A tool call is said to have succeeded, and nothing of its result is there.

Why: nothing at all is not the same as nothing to show; a reader cannot tell an empty answer from a lost one.
Trips: tool.result with a duration and nothing else.  Near miss: tool.result with empty true.
Fix: Carry a reference or a preview of the result, or say `empty: true`.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import body, tracks

FORMS = (
    "output_ref",
    "preview",
    "display_preview",
    "structured_content_ref",
    "raw_output_ref",
    "artifact_refs",
    "evidence_refs",
    "image_refs",
)


def has_result(step, world, context):
    """The key of a result of which something is there."""
    return True if _is_told(body(step)) else None


def _is_told(payload):
    for name in FORMS:
        if payload.get(name) not in (None, []):
            return True
    return payload.get("empty") not in (None, False)


@rule("REF018", "result-without-a-result", clauses={"agent-runtime": "TOOL-22"}, on="tool.result", quiet=has_result)
def check(step, world, context):
    payload = body(step)
    yield seen()
    if not _is_told(payload) and not step.line.get("output_ref") and not step.line.get("refs"):
        yield finding(
            step,
            "a reference, a preview, or empty true",
            "none of them",
            pointer="/payload" if payload else "",
            entity=("tool_call", step.scope.get("tool_call_id", "")),
            witness=tracks(world, step),
        )
