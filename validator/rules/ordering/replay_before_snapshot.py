"""After a reconnection events are replayed before a snapshot was given.

Why: until the replay ends the subscriber shows a state pieced together from half a stream.
Trips: a reconnect line, then events that were sent before.  Near miss: a snapshot between the two.
Fix: Send the snapshot first, then the events after the last acknowledged one.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals


@rule("ORD015", "replay-before-snapshot", clauses={"agent-runtime": "ORD-24"}, on="repeat", needs=(Arrivals,))
def check(step, world, context):
    back = world.ledger(Arrivals).reconnects.replays(step)
    if back is None:
        return
    if back.snapshot is not None:
        yield seen()
        return
    witness = (step.repeats, back.line)
    yield finding(step, "a snapshot before the replay", "none", witness=witness, key="no snapshot")
