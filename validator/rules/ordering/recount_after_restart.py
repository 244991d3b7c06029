"""After a restart a stream counts from where it had already been.

Why: consumers skip everything up to the last sequence they know, so the first events after the restart are lost.
Trips: sequences 1 and 2, a restart, then a new event with sequence 1.  Near miss: 1 and 2, a restart, then 3.
Fix: Store the counter of each stream with its events, and go on above it.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step


@rule("ORD007", "recount-after-restart", clauses={"agent-runtime": "ORD-31"}, needs=(Arrivals,), quiet=in_step)
def check(step, world, context):
    arrivals, place = world.ledger(Arrivals), step.place
    if not arrivals.after_restart or place.sequence is None:
        return
    if place.verdict not in {"behind", "same"}:
        yield seen()
    elif step.reused is None:
        yield finding(
            step,
            f"a sequence above {place.previous}",
            f"{place.sequence} after a restart",
            pointer="/sequence",
            entity=("stream", place.stream or ""),
            witness=(place.previous_line, arrivals.restart),
            key="recount",
        )
