"""A session is told under another runtime id than before.

Why: traces and costs are attributed by the runtime id, and half of them end up elsewhere.
Trips: events of one session with runtime_id r1, then r2.  Near miss: r1 before and after a restart.
Fix: Store the runtime id with the installation, and read it at every start.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._runtimes import Runtimes


@rule(
    "IDN010", "runtime-id-changed", clauses={"agent-runtime": "ID-1"}, on="*", needs=(Runtimes,), given=("runtime_id",)
)
def check(step, world, context):
    runtimes = world.ledger(Runtimes)
    if runtimes.other:
        settled, line = runtimes.other
        yield finding(
            step,
            f"{settled}, as before",
            step.scope["runtime_id"],
            pointer="/runtime_id",
            entity=("session", step.scope["session_id"]),
            witness=(line,),
            key="changed",
        )
    elif runtimes.same:
        yield seen()
