"""A gap is marked only after other events have followed it.

Why: until the marker comes, consumers show as current what they can no longer know.
Trips: sequences 2, 5, 6, then snapshot.repaired for 3 and 4.  Near miss: 2, then snapshot.repaired with sequence 5.
Fix: Emit the repair marker first when events were lost, and go on after it.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals
from validator.rules.ordering._streams import SILENT_RETURN

MARKERS = ("snapshot.repaired", "snapshot.updated")


@rule("ORD010", "late-gap-marker", clauses={"agent-runtime": "ORD-16"}, on=MARKERS, needs=(Arrivals,))
def check(step, world, context):
    for gap in world.ledger(Arrivals).gaps.covered:
        # After a reconnection a late marker breaks a demand, and another rule tells it.
        if gap.line in world.ledger(Arrivals).reconnects.owned:
            continue
        if gap.followed is None and (gap.line == step.number or gap.type in SILENT_RETURN):
            yield seen()
            continue
        yield finding(
            step,
            "the marker as the first event after the gap",
            "a marker behind other events",
            entity=("stream", gap.stream),
            witness=tuple(line for line in (gap.before, gap.line, gap.followed) if line),
            key="late",
        )
