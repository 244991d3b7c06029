"""After a reconnection the replay leaves out events that were not acknowledged.

Why: the subscriber never gets them, and nothing tells it that they exist.
Trips: sequence 2 acknowledged, and the replay begins with 4.  Near miss: the replay begins with 3.
Fix: Replay from the sequence after the last acknowledged one, or declare by snapshot.repaired that it is impossible.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals
from validator.rules.ordering._streams import whole


@rule(
    "ORD013",
    "replay-from-elsewhere",
    clauses={"agent-runtime": "ORD-25"},
    on=("repeat", "record:result"),
    needs=(Arrivals,),
)
def check(step, world, context):
    reconnects = world.ledger(Arrivals).reconnects
    if step.kind == "result":
        if reconnects.answer:
            lines, wanted, promised = reconnects.answer
            yield from _judge(step, wanted, promised, "/result/next_sequence", lines)
        return
    sequence, back = whole(step.line.get("sequence")), reconnects.replays(step)
    if back and back.acknowledged is not None and sequence is not None and not back.marked:
        yield from _judge(step, back.acknowledged + 1, sequence, "/sequence", (step.repeats, back.line))


def _judge(step, wanted, sequence, pointer, witness):
    if sequence <= wanted:
        yield seen()
        return
    expected = f"a replay from {wanted}"
    yield finding(step, expected, f"one from {sequence}", pointer=pointer, witness=witness, key="skips")
