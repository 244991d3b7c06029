"""A patch names an approval that its run never asked for.

Why: whoever follows the id of the approval to see who allowed the change finds nothing.
Trips: a patch names apr-2, the run completes, and only apr-1 was asked for.  Near miss: the patch names apr-1.
Fix: Name the approval that was asked for, or an honest not_applicable while there is none.
"""

from validator.rules import Finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved, whole


@rule("AHB020", "patch-approval-never-asked", clauses={"agenthub": "AH-91"}, on="run.completed", needs=(Runs,))
def check(step, world, context):
    if moved(step) is None or not whole(world, step):
        return
    runs = world.ledger(Runs)
    asked = {approval.approval_id for approval in runs.asked(step.scope["run_id"]).all}
    for told, line in runs.of(step).patches.values():
        named = told.get("approvalId")
        if not isinstance(named, str) or told.get("applyStatus") == "applied":
            continue
        yield seen()
        if named not in asked:
            yield Finding(
                line,
                "an approval that the run asked for",
                "no such approval until the run completed",
                pointer="/payload/approvalId",
                entity=entity(step),
                witness=(*history(world, step), step.number),
            )
