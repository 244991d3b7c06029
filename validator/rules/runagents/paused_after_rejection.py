"""The action of a run was rejected, and the run did not fail.

Why: a rejection is final; a paused run waits for a decision that has been made, and one that goes on ignores it.
Trips: the action's record says REJECTED, then RESUMED.  Near miss: the action's record says REJECTED, then FAILED.
Fix: Move the run to FAILED in the same transaction that stores the rejection.
"""

from validator.rules import END, Finding, finding, rule, seen
from validator.rules.runagents._facts import Pauses, expects

ON = ("*", "record:run", "record:snapshot", END)
EXPECTED = "a run that fails"


@rule("RAG009", "paused-after-rejection", clauses={"runagents": "RA-49"}, on=ON, needs=(Pauses,))
def check(step, world, context):
    pauses = world.ledger(Pauses)
    for run, pause in pauses.now if step else pauses.of.items():
        if world.state("blocked_action", pause.action) != "rejected" or pause.refused:
            continue
        history, state = world.subjects("blocked_action")[pause.action].history, world.state("run", run)
        more = {"entity": ("run", run), "state": "PAUSED_APPROVAL", "witness": (pause.line, *history)}
        if state == "FAILED":
            yield seen()
        elif step is None:
            if expects(world, context) == "complete" and pause.held is None:
                yield Finding(history[-1], EXPECTED, f"the run ends {state}", key="left", **more)
        elif pause.resumed is not None:
            more["witness"] += (pause.resumed,)
            yield finding(step, EXPECTED, "the run goes on", key="went on", **more)
        elif step.number == pause.held:
            yield finding(step, EXPECTED, f"its record says {state}", key="still paused", **more)
