"""A value that is not to be had is told by a word that says nothing.

Why: a program that reads an empty name or "n/a" takes it for a value, and compares, sums or calls with it.
Trips: model.requested with an empty model.  Near miss: the model is an honest value with its reason.
Fix: Write `{"honest": "<one of the five>", "reason": "<why>"}` in the place of the value, or leave the field out.
"""

from validator.rules import finding, rule, seen

NOTHING = frozenset({"n/a", "n.a.", "null", "nil", "undefined", "tbd", "?"})
LONGEST = max(map(len, NOTHING))
LOOKED = seen()
NAMES = frozenset(
    {
        "model",
        "provider",
        "selected_model",
        "selected_provider",
        "from_model",
        "to_model",
        "from_provider",
        "to_provider",
        "tool_name",
        "reason",
        "source",
        "currency",
        "objective",
        "owner",
        "assignee",
        "version_id",
        "interrupted_by",
        "requested_by",
        "cancelled_by",
        "decided_by",
    }
)
"""Fields in which a value without letters cannot be meant."""


@rule("UNK011", "disguised-unknown", clauses={"agent-runtime": "HON-1"}, on="*", given=tuple(NAMES))
def check(step, world, context):
    payload = step.line.get("payload")
    if step.kind != "event" or not isinstance(payload, dict) or step.type not in world.protocol.events:
        return
    empty = []
    for name in payload:
        if name in NAMES and isinstance(payload[name], str):
            yield LOOKED
            text = payload[name].strip()
            # A word is not shorter in small letters.
            if len(text) <= LONGEST and (not text or text.lower() in NOTHING):
                empty.append((name, text))
    for name, text in sorted(empty):
        actual = "a word that says nothing" if text else "an empty text"
        yield finding(step, "a value or an honest statement", actual, pointer=f"/payload/{name}", key=name)
