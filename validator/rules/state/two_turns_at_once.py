"""A thread starts a turn while another of its turns is under way.

Why: a thread is an ordered context; what two turns at once read and write in it has no order.
Trips: turn.started of u1, then of u2 in the same thread.  Near miss: turn.started of u2 after u1 was completed.
Fix: Queue the second turn until the first is over, or start it in a thread of its own.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import OpenWork, lines

WAITING = {"accepted", "queued"}


@rule("STA002", "two-turns-at-once", clauses={"agent-runtime": "THR-11"}, on="turn.started", needs=(OpenWork,))
def check(step, world, context):
    turn = next((move.subject for move in step.moves if move.machine == "turn" and move.source in WAITING), None)
    own = world.subjects("turn").get(turn or "")
    thread = own.scope.get("thread_id") if own else None
    if thread is None:
        return
    others = (other for other in world.ledger(OpenWork).of("turn", "thread_id", thread) if other is not own)
    active = next((other for other in others if other.state not in WAITING), None)
    yield seen()
    if active is not None:
        yield finding(
            step,
            "no other turn of the thread under way",
            f"one that is {active.state}",
            pointer="/turn_id",
            entity=("turn", own.key),
            witness=(*lines(own), *lines(active)),
            key="two turns",
        )
