"""A run went on although the action it was waiting for had expired.

Why: nobody approved the call in time; going on turns silence into consent.
Trips: APPROVAL_REQUIRED, the action's record says EXPIRED, then RESUMED.
Near miss: the action expires and the run stays paused.
Fix: Keep the run paused or fail it when its action expires; a new try is a new action.
"""

from validator.rules import finding, rule, seen
from validator.rules.runagents._facts import Pauses

ON = ("*", "record:run", "record:snapshot")


@rule("RAG007", "resumed-on-expired-action", clauses={"runagents": "RA-67"}, on=ON, needs=(Pauses,))
def check(step, world, context):
    for run, pause in world.ledger(Pauses).now:
        if world.state("blocked_action", pause.action) == "expired" and not pause.refused:
            yield seen() if pause.resumed is None else _resumed(step, world, run, pause)


def _resumed(step, world, run, pause):
    history = world.subjects("blocked_action")[pause.action].history
    return finding(
        step,
        "a run that stays paused or fails",
        "the run goes on",
        entity=("run", run),
        state="PAUSED_APPROVAL",
        witness=(pause.line, pause.resumed, *history),
        key="resumed",
    )
