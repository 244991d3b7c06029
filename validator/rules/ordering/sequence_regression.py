"""An event that was not seen before has a lower sequence than one before it.

Why: consumers skip what is not above the last sequence they have applied, so the event is lost on them.
Trips: sequences 1, 2, 4, 3 of four events.  Near miss: 1, 2, 3, then 2 again, the same event delivered twice.
Fix: Number events when they are emitted, by one counter per stream, and write them in that order.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step

CLAUSES = {
    "agent-runtime": ("ORD-1", "ORD-12"),
    "agenthub": ("AH-3",),
    "runagents": ("RA-20",),
    "agent-threads": ("AT-22", "AT-25"),
}


@rule("ORD001", "sequence-regression", clauses=CLAUSES, on=("*", "repeat"), needs=(Arrivals,), quiet=in_step)
def check(step, world, context):
    counting, *again = CLAUSES[world.protocol.name]
    if step.repeats is not None:
        if again:
            yield seen(*again)
        return
    place, arrivals = step.place, world.ledger(Arrivals)
    if place.verdict in {"next", "gap"}:
        yield seen(counting)
    # The same id with another body, and a count that began again, are faults with rules of their own.
    if place.verdict != "behind" or step.reused is not None or arrivals.continues or arrivals.after_restart:
        return
    yield finding(
        step,
        f"a sequence above {place.previous}",
        f"{place.sequence}",
        pointer=pointer(world),
        clause=counting,
        entity=("stream", place.stream or ""),
        witness=(place.previous_line,),
        key="behind",
    )


def pointer(world):
    """Where the events of a protocol keep their sequence."""
    return "/" + world.protocol.data["fields"]["sequence"]
