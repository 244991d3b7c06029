"""An event has no sequence.

Why: without a place in the stream neither a loss nor a change of order can be noticed.
Trips: a stream with an event that has no sequence; it is told once per stream.  Near miss: the same event with one.
Fix: Count the events of each stream, and write the count into every one of them.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step


@rule("ORD004", "sequence-missing", clauses={"agent-runtime": "ENV-7"}, needs=(Arrivals,), quiet=in_step)
def check(step, world, context):
    if "sequence" in step.line:
        yield seen()
    elif world.ledger(Arrivals).first_uncounted:
        entity = ("stream", step.place.stream) if step.place.stream else None
        yield finding(step, "a sequence", "none", entity=entity, key="no sequence")
