"""An approval is told in another run than the one that asked for it.

Why: the run that waits never learns of the decision, and another one is let through by it.
Trips: run r1 asks for apr-1, and run.approval.resolved for apr-1 names run r2.  Near miss: the decision names r1.
Fix: Keep the run with the approval and name it in every event about it; an approval of another run has another id.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity


@rule("AHB034", "approval-of-another-run", clauses={"agenthub": "AH-60"}, on="run.approval.*", needs=(Runs,))
def check(step, world, context):
    asked = world.ledger(Runs).approvals.get(step.scope.get("approval_id", ""))
    run = step.scope.get("run_id")
    if asked is None or run is None or asked.line == step.number:
        return
    yield seen()
    if run != asked.run_id:
        yield finding(
            step,
            "the run that asked for the approval",
            "another run",
            pointer="/runId",
            entity=entity(step),
            witness=(asked.line,),
        )
