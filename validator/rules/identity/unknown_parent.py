"""A child is spawned under a parent that is not named, or that the stream does not know.

Why: what the child does cannot be shown below the work that asked for it, nor be stopped with it.
Trips: subagent.spawned with a parent_turn_id that no event has named.  Near miss: the same with the turn that runs.
Fix: Write the session, the thread and the turn of the parent into subagent.spawned, from the parent itself.
"""

from validator.protocol.honest import is_honest
from validator.rules import finding, rule, seen
from validator.rules._words import one
from validator.rules.identity._parents import Identities

KINDS = ("session", "thread", "turn", "task")


@rule(
    "IDN006",
    "unknown-parent",
    clauses={"agent-runtime": ("SUB-10", "ID-10")},
    on="subagent.spawned",
    needs=(Identities,),
)
def check(step, world, context):
    payload = step.line.get("payload")
    payload = payload if isinstance(payload, dict) else {}
    child = ("subagent", step.scope.get("subagent_id", ""))
    for kind in ("session", "thread"):
        named = (payload.get(f"parent_{kind}_id"), step.line.get(f"{kind}_id"))
        if any(isinstance(value, str) or is_honest(value) for value in named):
            yield seen("ID-10")
            continue
        expected = f"the {kind} of the parent"
        yield finding(step, expected, "none", clause="ID-10", entity=child, key=f"no {kind}")
    for kind in KINDS:
        name = f"parent_{kind}_id"
        value = payload.get(name)
        if not isinstance(value, str):
            continue
        if world.ledger(Identities).before(f"{kind}_id", value) or value == step.scope.get(f"{kind}_id"):
            yield seen("SUB-10")
        elif not world.midway(step) and world.unproved(step) is None:
            yield finding(
                step,
                f"{one(kind)} that the stream knows",
                "one that no event has named",
                pointer=f"/payload/{name}",
                clause="SUB-10",
                entity=child,
                key=f"unknown {kind}",
            )
