"""One action id stands for two things: another run, another tool or another capability.

Why: a decision is found by the action's id; if the id has two meanings, the decision reaches a call nobody looked at.
Trips: APPROVAL_REQUIRED for action a1 in run r1, then APPROVED for a1 in run r2.
Near miss: APPROVAL_REQUIRED for action a1 delivered through its record as well, with the same run and tool.
Fix: Give every block an action id of its own, and decide it in the run it belongs to.
"""

from validator.rules import finding, rule, seen
from validator.rules.runagents._facts import DECISIONS, Actions, said_of_action, told

ON = ("APPROVAL_REQUIRED", "APPROVED", "REJECTED", "RESUMED", "TOOL_*", "record:snapshot")
CLAUSES = ("RA-62", "RA-82", "RA-107")


@rule("RAG019", "action-of-two-runs", clauses={"runagents": CLAUSES}, on=ON, needs=(Actions,))
def check(step, world, context):
    said = said_of_action(step)
    if not said:
        return
    first = world.ledger(Actions).known[said["action"]].first
    for name in ("run", "tool", "capability"):
        value, line = first.get(name, (None, step.number))
        if line == step.number or name not in said:
            continue
        clause = _clause(step, name)
        yield seen(clause)
        if said[name] != value:
            yield finding(
                step,
                f"the {name} the action was blocked with",
                f"another {name}",
                pointer=_pointer(step, name),
                clause=clause,
                entity=("blocked_action", said["action"]),
                state=world.state("blocked_action", said["action"]),
                witness=(line, *told(world, said["action"])),
                key=f"{step.type} {name}",
            )


def _clause(step, name):
    if name != "run":
        return "RA-62"
    return "RA-82" if step.type in DECISIONS else "RA-107"


def _pointer(step, name):
    if step.kind != "event":
        return f"/snapshot/{name if name == 'capability' else f'{name}_id'}"
    return "/run_id" if name == "run" else f"/data/{name if name == 'capability' else f'{name}_id'}"
