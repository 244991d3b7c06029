"""A preview is shorter than its output, and no reference leads to the whole.

Why: the reader sees the beginning and has no way to the rest.
Trips: tool.result with ten bytes of preview for a size of a hundred.  Near miss: output_ref stands beside the preview.
Fix: Store the output and carry its reference beside the preview.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import number, told

REFS = ("output_ref", "raw_output_ref", "structured_content_ref", "artifact_refs", "image_refs")
_REFS = frozenset(REFS)
PREVIEWS = ("preview", "display_preview")


def led_on(step, world, context):
    """The key of a result without a preview or a size to compare it with, or with a reference to the whole."""
    payload = step.line.get("payload")
    if not isinstance(payload, dict):
        return False
    size, preview, shown = payload.get("size_bytes"), payload.get("preview"), payload.get("display_preview")
    if number(size) is None or not (isinstance(preview, str) or isinstance(shown, str)):
        return False
    return None if _REFS.isdisjoint(payload) else True


@rule(
    "REF010",
    "preview-without-whole",
    clauses={"agent-runtime": "OUT-4"},
    on="tool.result",
    quiet=led_on,
)
def check(step, world, context):
    texts = [text for name in PREVIEWS if isinstance(text := told(step, name), str)]
    size = number(told(step, "size_bytes"))
    if not texts or size is None:
        return
    yield seen()
    longest = max(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    payload = step.line["payload"]
    refers = any(name in payload for name in REFS) or "output_ref" in step.line or step.line.get("refs")
    if longest < size and not refers:
        yield finding(step, "a reference to the whole beside the preview", "a preview alone", pointer="/payload")
