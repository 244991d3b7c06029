"""A change is reported as applied although its approval was not approved before.

Why: a proposal that calls itself applied passes for accepted work.
Trips: a patch is applied while its approval is pending.
Near miss: a patch is applied after its approval was approved.
Fix: Report a patch as proposed or awaiting_approval until its approval is approved and the Edge has applied it.
"""

from itertools import chain

from validator.protocol.honest import is_honest, known
from validator.rules import finding, rule, seen
from validator.rules.agenthub._asked import is_any
from validator.rules.agenthub._runs import Runs, decided, entity, history, moved, payload, whole, word


@rule(
    "AHB019",
    "applied-without-approval",
    clauses={"agenthub": "AH-99"},
    on=("run.patch.proposed", "run.artifact.ready", "run.preview.ready", "run.apply.completed", "run.completed"),
    needs=(Runs,),
)
def check(step, world, context):
    pointer = _claim(step, world.ledger(Runs).of(step))
    if pointer is None or moved(step) is None or not whole(world, step):
        return
    approvals, unsure = _governing(step, world)
    if unsure:
        return
    yield seen()
    if not is_any(approvals, "approved"):
        earliest = min((group.all[0] for group in approvals), key=lambda approval: approval.line, default=None)
        asked = (line for group in approvals for approval in group.all for line in decided(world, approval))
        yield finding(
            step,
            "an approval that was approved before",
            f"the approval is {earliest.state}" if earliest else "no approval was asked for",
            pointer=pointer,
            entity=entity(step),
            witness=chain(history(world, step), asked),
            key=str(earliest.state) if earliest else "none",
        )


def _claim(step, run):
    """Where an event says that something was applied."""
    told = payload(step)
    if step.type == "run.completed":
        state = known(told.get("diffState"))
        applied = isinstance(state, dict) and word(state, "status") in {"applied", "partly_applied"}
        # What an application or a patch claimed before was held against its approval then.
        if run.applying is not None or any(patch.get("applyStatus") == "applied" for patch, _ in run.patches.values()):
            return None
        return "/payload/diffState/status" if applied else None
    if step.type in {"run.artifact.ready", "run.preview.ready"} and told.get("kind") != "patch":
        return None
    # The start of an application was already held against the approval it names.
    if step.type == "run.apply.completed" and told.get("approvalId") == (run.applying or {}).get("approvalId"):
        return None
    return "/payload/applyStatus" if told.get("applyStatus") == "applied" else None


def _governing(step, world):
    """The approvals a claim can rest on, and whether the producer honestly does not know which."""
    runs, run_id, told = world.ledger(Runs), step.scope["run_id"], payload(step)
    if step.type == "run.completed":
        return runs.asked(run_id).besides("file_read"), False
    named, patch = told.get("approvalId"), known(told.get("patchId"))
    unsure = is_honest(named) and named["honest"] != "not_applicable"
    return runs.asked(run_id).about(named, patch), unsure
