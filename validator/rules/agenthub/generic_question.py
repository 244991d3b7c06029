"""A reviewer is asked to allow a risky action behind words that do not name it.

Why: a reviewer who presses "Continue" has not agreed to a write, a command or a deployment.
Trips: an approval for a shell command with the summary "Continue?".  Near miss: the summary "Run the link checker".
Fix: Let the summary name the action and what it touches.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._phrases import QUESTIONS, generic
from validator.rules.agenthub._runs import gate_of, payload


@rule("AHB012", "generic-question", clauses={"agenthub": "AH-76"}, on="run.approval.requested")
def check(step, world, context):
    told = payload(step)
    gate = gate_of(world, told.get("actionKind"))
    if gate is None or gate["values"]["effect"] != "apply" or not isinstance(told.get("summary"), str):
        return
    yield seen()
    if generic(told["summary"], QUESTIONS):
        yield finding(
            step,
            f"a summary that names the {told['actionKind']} action",
            "a generic text",
            pointer="/payload/summary",
            entity=("approval", step.scope.get("approval_id", "")),
            key=gate["id"],
        )
