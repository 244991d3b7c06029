"""A peer task is mapped to another remote task, remote context or local task than before.

Why: the two sides of a mapping are all that ties a result to the work that asked for it.
Trips: peer task p1 for remote task r-1, then for r-2.  Near miss: the same mapping with another status.
Fix: Keep the mapping as it was made; work that is handed to another remote task gets a peer task of its own.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.identity._peers import PeerTasks

FIXED = ("remote_task_id", "remote_context_id", "task_id")


@rule(
    "IDN013",
    "peer-task-remapped",
    clauses={"agent-runtime": "CHAN-27"},
    on="channel.peer_task.*",
    needs=(PeerTasks,),
)
def check(step, world, context):
    peer = world.ledger(PeerTasks).current
    for name in FIXED if peer else ():
        value, settled = known(peer.record.get(name)), peer.settled.get(name)
        if not isinstance(value, str) or settled is None or settled[1] == step.number:
            continue
        if settled[0] == value:
            yield seen()
            continue
        yield finding(
            step,
            f"{name} as before",
            "another one",
            pointer=f"/payload/peer_task/{name}",
            entity=("peer_task", peer.key),
            witness=(settled[1],),
            key=name,
        )
