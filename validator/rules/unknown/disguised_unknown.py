"""A value that is not to be had is told by a word that says nothing.

Why: a program that reads an empty name or "n/a" takes it for a value, and compares, sums or calls with it.
Trips: model.requested with an empty model.  Near miss: the model is an honest value with its reason.
Fix: Write `{"honest": "<one of the five>", "reason": "<why>"}` in the place of the value, or leave the field out.
"""

from validator.rules import finding, rule, seen

NOTHING = frozenset({"n/a", "n.a.", "null", "nil", "undefined", "tbd", "?"})
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
    for name in sorted(NAMES & payload.keys()):
        value = payload[name]
        if not isinstance(value, str):
            continue
        yield seen()
        if not value.strip() or value.strip().lower() in NOTHING:
            actual = "a word that says nothing" if value.strip() else "an empty text"
            yield finding(step, "a value or an honest statement", actual, pointer=f"/payload/{name}", key=name)
