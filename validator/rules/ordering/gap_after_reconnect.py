"""A stream goes on after a reconnection although events could not be replayed, and nothing marks it.

Why: the subscriber takes what follows for all there is, and its state is wrong without its knowing.
Trips: channel.resumed with replay_possible false, then tool.started.  Near miss: snapshot.repaired between the two.
Fix: Emit snapshot.repaired before the next ordinary event whenever the replay is not whole.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step


@rule("ORD014", "gap-after-reconnect", clauses={"agent-runtime": "ORD-26"}, needs=(Arrivals,), quiet=in_step)
def check(step, world, context):
    back = world.ledger(Arrivals).reconnects.ended
    if back is None or back.impossible is None:
        return
    if back.marked:
        yield seen()
        return
    gap = step.place is not None and step.place.verdict == "gap"
    lines = (back.line, back.impossible, step.place.previous_line if gap else None)
    yield finding(
        step,
        "a repair marker before the next ordinary event",
        "none",
        entity=("stream", step.place.stream or "") if step.place else None,
        witness=tuple(line for line in lines if line),
        key="unmarked",
    )
