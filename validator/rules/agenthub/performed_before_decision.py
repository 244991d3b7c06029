"""An action was performed while the approval it waits for was still pending.

Why: the pause is the whole point of an approval; a decision after the fact decides nothing.
Trips: a shell approval is pending and a shell tool comes back.  Near miss: it comes back after the approval.
Fix: Hold the action back until run.approval.resolved says approved.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._asked import first, is_any
from validator.rules.agenthub._runs import Runs, decided, entity, gate_of, history, moved, performed


@rule("AHB013", "performed-before-decision", clauses={"agenthub": "AH-78"}, on="run.tool.result", needs=(Runs,))
def check(step, world, context):
    runs = world.ledger(Runs)
    call = runs.of(step).answered
    gate = gate_of(world, call.kind if call else None)
    if call is None or gate is None or not performed(step) or moved(step) is None:
        return
    asked = runs.covering(step.scope.get("run_id"), gate, call)
    if not asked:
        return
    yield seen()
    waiting = first(asked, "pending")
    if waiting is not None and not is_any(asked, "approved"):
        yield finding(
            step,
            f"no {call.kind} before its approval is approved",
            "the approval is pending",
            entity=entity(step),
            state="pending",
            witness=(*history(world, step), call.line, *decided(world, waiting)),
            key=str(call.kind),
        )
