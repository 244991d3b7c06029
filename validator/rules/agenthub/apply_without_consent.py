"""An application began under an approval that was not approved in its run.

Why: the Edge changes the workspace, and nobody of this run allowed it.
Trips: run.apply.started with the id of an approval that nobody asked for.
Near miss: the approval is approved, then applied.
Fix: Ask with run.approval.requested and wait for the decision approved; name that approval in run.apply.started.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, decided, entity, history, moved, whole


@rule("AHB007", "apply-without-consent", clauses={"agenthub": "AH-35"}, on="run.apply.started", needs=(Runs,))
def check(step, world, context):
    if "approval_id" not in step.scope or moved(step) is None or not whole(world, step):
        return
    yield seen()
    name = step.scope["approval_id"]
    approval = world.ledger(Runs).approvals.get(name)
    state = world.state("approval", name) or "never asked for"
    if approval is not None and approval.run_id != step.scope["run_id"]:
        state = "of another run"
    if state != "approved":
        yield finding(
            step,
            "an approval of this run that was approved",
            f"the approval is {state}",
            pointer="/payload/approvalId",
            entity=entity(step),
            witness=(*history(world, step), *(decided(world, approval) if approval else ())),
            key=state,
        )
