"""A gap is marked by snapshot.updated where snapshot.repaired was meant for it.

Why: an update cannot say what could not be recovered, so consumers take the rest for known.
Trips: snapshot.updated with recovery_mode after a gap.  Near miss: snapshot.repaired after a gap.
Fix: Emit snapshot.repaired, with what is stale and what is unavailable.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals
from validator.rules.ordering.late_gap_marker import MARKERS


@rule("ORD012", "gap-marked-by-update", clauses={"agent-runtime": "ORD-18"}, on=MARKERS, needs=(Arrivals,))
def check(step, world, context):
    covered = world.ledger(Arrivals).gaps.covered
    if not covered:
        return
    if step.type == "snapshot.repaired":
        yield seen()
        return
    yield finding(
        step,
        "snapshot.repaired",
        "snapshot.updated with recovery_mode",
        pointer="/type",
        entity=("stream", covered[0].stream),
        witness=tuple(line for gap in covered for line in (gap.before, gap.line) if line),
        key="updated",
    )
