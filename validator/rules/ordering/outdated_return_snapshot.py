"""The snapshot given at a reconnection is older than what the subscriber has acknowledged.

Why: it takes the subscriber back behind what it has already seen and shown.
Trips: sequence 3 acknowledged, and a snapshot of sequence 2.  Near miss: a snapshot of sequence 3.
Fix: Give a snapshot of the acknowledged sequence or a later one.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals
from validator.rules.ordering._streams import payload_of, whole


@rule(
    "ORD016",
    "outdated-return-snapshot",
    clauses={"agent-runtime": "ORD-27"},
    on=("record:snapshot", "snapshot.updated", "snapshot.repaired"),
    needs=(Arrivals,),
)
def check(step, world, context):
    reconnects = world.ledger(Arrivals).reconnects
    back = reconnects.open.get(reconnects.stream_of(step) or "")
    if back is None or back.acknowledged is None:
        return
    pointer, claimed = _claim(step, world)
    if claimed is None:
        return
    if claimed >= back.acknowledged:
        yield seen()
        return
    yield finding(
        step,
        f"a snapshot of sequence {back.acknowledged} or later",
        f"one of {claimed}",
        pointer=pointer,
        witness=(back.line,),
        key="older",
    )


def _claim(step, world):
    """Where a snapshot says which sequence it reflects, and which."""
    if step.kind == "event":
        return "/payload/as_of_sequence", whole(payload_of(world, step.line).get("as_of_sequence"))
    if whole(step.line.get("sequence")) is not None:
        return "/sequence", step.line["sequence"]
    return "/snapshot/as_of_sequence", whole(world.protocol.lens.get(step.line, "record.as_of_sequence"))
