"""A timestamp lies before that of the event before it in the stream.

Why: durations and time-outs that are computed from such timestamps are wrong, some of them negative.
Trips: an event at 09:00:05, the next one at 09:00:03.  Near miss: one instant, written in two time zones.
Fix: Stamp events when they are seen, by a clock that does not step back, before they are queued.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step


@rule(
    "ORD008",
    "time-runs-back",
    clauses={"agent-runtime": "ORD-9", "runagents": "RA-22", "agent-threads": "AT-23"},
    needs=(Arrivals,),
    quiet=in_step,
)
def check(step, world, context):
    arrivals = world.ledger(Arrivals)
    if arrivals.later is not None:
        yield finding(
            step,
            "a timestamp not before that of the event before it",
            "an earlier one",
            pointer="/timestamp",
            entity=("stream", step.place.stream or ""),
            witness=(arrivals.later,),
            key="earlier",
        )
    elif arrivals.compared:
        yield seen()
