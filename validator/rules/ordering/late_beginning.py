"""A stream that the capture holds from its beginning does not begin at 0 or 1.

Why: a consumer cannot tell a stream that begins late from one whose beginning it has missed.
Trips: session.created with sequence 7 as the first event.  Near miss: a capture that joins in the middle.
Fix: Begin to count at 0 or 1 in every stream.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step


@rule("ORD009", "late-beginning", clauses={"agent-runtime": ("ORD-4", "ORD-19")}, needs=(Arrivals,), quiet=in_step)
def check(step, world, context):
    place = step.place
    if place.verdict != "first":
        return
    begins = step.type == "session.created" and place.stream == step.scope.get("session_id")
    if place.sequence <= 1:
        yield seen("ORD-4")
    elif begins:
        yield finding(
            step,
            "a first sequence of 0 or 1",
            f"{place.sequence}",
            pointer="/sequence",
            clause="ORD-4",
            entity=("stream", place.stream or ""),
            key="beginning",
        )
    else:
        yield seen("ORD-19")
