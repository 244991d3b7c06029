"""A run paused for approval went on, and its action was never approved.

Why: the pause is the control; a run that leaves it by itself was governed by nobody.
Trips: PAUSED_APPROVAL, a record that says RUNNING, and the run fails with its action still undecided.
Near miss: the record says RUNNING a moment before APPROVAL_GRANTED is logged.
Fix: Set the run to RUNNING only when the approval is stored, and log the grant before the call is retried.
"""

from validator.rules import END, Finding, finding, rule, seen
from validator.rules.runagents._facts import Pauses, expects

ON = ("*", "record:run", "record:snapshot", END)
WORDS = ("the approval of the action the run was waiting for", "no approval in the log")


@rule("RAG008", "resumed-without-grant", clauses={"runagents": "RA-38"}, on=ON, needs=(Pauses,))
def check(step, world, context):
    pauses = world.ledger(Pauses)
    for run, pause in pauses.now if step else pauses.of.items():
        state = world.state("blocked_action", pause.action)
        if pause.resumed is None or state is None or pause.refused:
            continue
        if pause.approved:
            yield seen()
        elif step is not None and state == "failed":
            yield finding(step, *WORDS, **_more(world, run, pause))
        elif step is None and state == "blocked" and expects(world, context) == "complete":
            yield Finding(pause.resumed, *WORDS, **_more(world, run, pause))


def _more(world, run, pause):
    history = world.subjects("blocked_action")[pause.action].history
    where = {"entity": ("run", run), "state": "PAUSED_APPROVAL", "key": "no grant"}
    return {**where, "witness": (pause.line, pause.resumed, *history)}
