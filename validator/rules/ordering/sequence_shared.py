"""Two different events of a stream have the same sequence.

Why: a consumer that has applied the one skips the other as already seen.
Trips: two events, both with sequence 2.  Near miss: the event with sequence 2 delivered twice, unchanged.
Fix: Take the number from one counter per stream, at the moment of emission.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step
from validator.rules.ordering.sequence_regression import pointer


@rule(
    "ORD002",
    "sequence-shared",
    clauses={"agent-runtime": "ORD-1", "agenthub": "AH-3", "runagents": "RA-20"},
    on=("*", "repeat"),
    needs=(Arrivals,),
    quiet=in_step,
)
def check(step, world, context):
    if step.repeats is not None:
        yield seen()
        return
    place, arrivals = step.place, world.ledger(Arrivals)
    if place.verdict in {"next", "gap"}:
        yield seen()
    if place.verdict != "same" or step.reused is not None or arrivals.continues or arrivals.after_restart:
        return
    yield finding(
        step,
        "a sequence of its own",
        f"{place.sequence}, which the event before it has",
        pointer=pointer(world),
        entity=("stream", place.stream or ""),
        witness=(place.previous_line,),
        key="same",
    )
