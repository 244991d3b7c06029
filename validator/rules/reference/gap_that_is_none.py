"""A list of known gaps names a signal that does not apply or that was exported.

Why: a gap is something that ought to be there; a list padded with what is not missing hides what is.
Trips: known_gaps lists a signal as not_applicable.  Near miss: known_gaps lists a signal as not_recorded.
Fix: List only signals that apply and were not exported; call a signal exported only when the pack refers to it.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen

REFS = ("pack_ref", "trace_ref", "replay_ref", "review_ref")


@rule(
    "REF002",
    "gap-that-is-none",
    clauses={"agent-runtime": ("EVI-5", "HON-34")},
    on=("evidence.changed", "record:result"),
)
def check(step, world, context):
    place = "result" if step.kind == "result" else "payload"
    body = step.line.get(place)
    gaps = known(body.get("known_gaps")) if isinstance(body, dict) else None
    if not isinstance(gaps, list):
        return
    referred = any(isinstance(known(body.get(name)), str) for name in REFS)
    for index, gap in enumerate(gaps):
        status = gap.get("status") if isinstance(gap, dict) else None
        clause = "HON-34" if status == "exported" and not referred else "EVI-5"
        yield seen(clause)
        if status in ("not_applicable", "exported"):
            yield finding(
                step,
                "a reference to what was exported" if clause == "HON-34" else "only signals that apply and are missing",
                status,
                clause=clause,
                pointer=f"/{place}/known_gaps/{index}/status",
                key=status,
            )
