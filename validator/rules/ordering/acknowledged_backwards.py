"""The acknowledged sequence of a subscriber goes down, or exceeds what was sent.

Why: a replay from such a number repeats what is stored or leaves out what is not.
Trips: sequence 3 acknowledged, then the channel resumes with 2.  Near miss: it resumes with 3.
Fix: Keep the highest acknowledged sequence of each channel, and refuse one that was never sent.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._reconnects import Acknowledgements


@rule(
    "ORD017",
    "acknowledged-backwards",
    clauses={"agent-runtime": "ORD-29"},
    on=("channel.disconnected", "channel.resumed", "record:result", "record:reconnect"),
    needs=(Acknowledgements,),
)
def check(step, world, context):
    for claim in world.ledger(Acknowledgements).claims:
        more = {"pointer": claim.pointer, "entity": claim.subscriber}
        if claim.previous is not None and claim.value < claim.previous:
            witness = tuple(line for line in (claim.previous_line, claim.sent_line) if line)
            expected = f"{claim.previous} or more"
            yield finding(step, expected, f"{claim.value}", witness=witness, key="down", **more)
        elif claim.sent is not None and claim.value > claim.sent and world.unproved(step) is None:
            witness = (claim.sent_line,)
            expected = f"at most {claim.sent}, the last that was sent"
            yield finding(step, expected, f"{claim.value}", witness=witness, key="beyond", **more)
        elif claim.previous is not None or claim.sent is not None:
            yield seen()
