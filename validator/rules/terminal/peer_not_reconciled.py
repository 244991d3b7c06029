"""A local task is completed although the peer's task that it wraps is not known to be over.

Why: a peer that fell silent has not finished, and what it has not handed over cannot be used.
Trips: the peer task is idle_not_completed, then task.completed.  Near miss: the peer's task is completed before it.
Fix: Wait until the peer's task is over and its artifacts are here, tell so by channel.peer_task.updated, then complete.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._peers import PeerTasks
from validator.rules.terminal._work import ends, lines, told

OVER = {"completed", "complete", "done", "succeeded", "finished", "failed", "cancelled", "canceled", "rejected"}
AT_WORK = {"still_running", "waiting_for_input"}
LEFT = {"idle_not_completed", "completed_unreconciled", "archived_or_missing", "temporarily_unavailable"}


@rule(
    "TRM034",
    "peer-not-reconciled",
    clauses={"agent-runtime": ("CHAN-29", "CHAN-32")},
    on="task.completed",
    needs=(PeerTasks,),
)
def check(step, world, context):
    for move in ends(world, step, "task"):
        for peer in world.ledger(PeerTasks).wrapped(move.subject):
            yield from _judge(step, world, move, peer)


def _judge(step, world, move, peer):
    state, word = peer.word("recovery_state"), peer.word("native_status", "remote_status")
    reconciled = told(step, "reconciled") is True
    clause = "CHAN-32" if state in LEFT else "CHAN-29"
    yield seen(clause)
    if state in LEFT:
        wrong = state
    elif state in AT_WORK or (state is None and word is not None and word.lower() not in OVER):
        wrong = state or "a status that is no end"
    else:
        return
    if reconciled and state == "completed_unreconciled":
        return
    yield finding(
        step,
        "a peer task that is over and reconciled",
        wrong,
        clause=clause,
        entity=("task", move.subject),
        state=move.source,
        witness=(peer.line, *lines(world.subjects("task").get(move.subject))),
        key=wrong,
    )
