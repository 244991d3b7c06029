"""An export says that it was made and not where it is.

Why: evidence that nobody can open proves nothing, and the export cannot be repeated to the same bytes.
Trips: evidence.changed exported as a replay without replay_ref.  Near miss: the replay reference is there.
Fix: Carry the pack or trace of evidence, the replay reference of a replay, the review reference of a review.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import body, told, word

WANTED = {
    "evidence": ("pack_ref", "trace_ref"),
    "replay": ("replay_ref",),
    "review": ("review_ref",),
}
ANY = ("pack_ref", "trace_ref", "replay_ref", "review_ref")


@rule("REF001", "export-without-reference", clauses={"agent-runtime": "EVI-3"}, on="evidence.changed")
def check(step, world, context):
    kind = word(step, "export_kind")
    if told(step, "change") != "exported" and kind is None:
        return
    yield seen()
    wanted, payload = WANTED.get(kind, ANY), body(step)
    if not any(name in payload for name in wanted):
        yield finding(
            step,
            " or ".join(wanted),
            "none of them",
            pointer="/payload",
            entity=("evidence", step.scope.get("evidence_id", "")),
            key=str(kind),
        )
