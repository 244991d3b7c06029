"""A thread is said to be idle or over while one of its turns is at work.

Why: a reader stops looking at the thread, and misses the question that the turn is waiting with.
Trips: turn.started, then thread.updated with status completed.  Near miss: turn.completed stands between them.
Fix: Say nothing about the thread, or what its turns make of it; it is over when its turns are.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import OpenWork, lines, told

QUIET = ("idle", "completed", "failed", "cancelled")
NOT_STARTED = ("accepted", "queued")


@rule(
    "UNK001",
    "thread-over-while-turn-works",
    clauses={"agent-runtime": "THR-12"},
    on="thread.updated",
    needs=(OpenWork,),
)
def check(step, world, context):
    thread, status = step.scope.get("thread_id"), told(step, "status") or step.line.get("status")
    if thread is None or status not in QUIET:
        return
    yield seen()
    for turn in world.ledger(OpenWork).of("turn", "thread_id", thread):
        if turn.state not in NOT_STARTED:
            yield finding(
                step,
                "no such status while a turn of the thread is at work",
                f"{status}, and a turn is {turn.state}",
                pointer="/payload/status" if told(step, "status") else "/status",
                entity=("thread", thread),
                state=turn.state,
                witness=lines(turn),
                key=status,
            )
            return
