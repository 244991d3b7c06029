"""A repair marker does not name the sequences that are missing.

Why: a consumer cannot tell which of its gaps the marker speaks about, nor whether all of them are covered.
Trips: snapshot.repaired after a gap, without gap_from and gap_to.  Near miss: the same with both.
Fix: Put the first and the last missing sequence into gap_from and gap_to.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals
from validator.rules.ordering._streams import payload_of, whole
from validator.rules.ordering.late_gap_marker import MARKERS


@rule("ORD011", "unnamed-gap", clauses={"agent-runtime": "ORD-15"}, on=MARKERS, needs=(Arrivals,))
def check(step, world, context):
    covered = world.ledger(Arrivals).gaps.covered
    if not covered:
        return
    payload = payload_of(world, step.line)
    missing = [name for name in ("gap_from", "gap_to") if whole(payload.get(name)) is None]
    if not missing:
        yield seen()
        return
    yield finding(
        step,
        f"{' and '.join(missing)} of the gap",
        "a marker that does not say which events are missing",
        pointer="/payload",
        entity=("stream", covered[0].stream),
        witness=tuple(line for gap in covered for line in (gap.before, gap.line) if line),
        key="unnamed",
    )
