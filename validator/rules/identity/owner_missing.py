"""A task, a step or an action belongs to nothing.

Why: what belongs to nothing can be neither found, nor stopped, nor charged to anybody.
Trips: action.required without a turn, a task or a call.  Near miss: action.required of a task.
Fix: Write the id of the owner into the first event of the subject, or an honest value in its place.
"""

from validator.protocol.honest import is_honest
from validator.rules import finding, rule, seen
from validator.rules.identity._naming import OWNERS
from validator.rules.identity._parents import Identities, ordinary


@rule(
    "IDN014",
    "owner-missing",
    clauses={"agent-runtime": tuple(clause for clause, _, _ in OWNERS.values())},
    on="*",
    needs=(Identities,),
    quiet=ordinary,
)
def check(step, world, context):
    ids = world.ledger(Identities)
    for name, (clause, types, owners) in OWNERS.items():
        key = step.scope.get(name)
        if key is None or (types and step.type not in types) or (not types and ids.before(name, key)):
            continue
        yield seen(clause)
        if not any(owner in step.scope or _said(step, owner) for owner in owners):
            kind = name.removesuffix("_id")
            expected = f"one of {', '.join(owners)}"
            yield finding(step, expected, "none", pointer=f"/{name}", clause=clause, entity=(kind, key), key=kind)


def _said(step, owner):
    """True when the owner is honestly unknown, or stands in the payload."""
    payload = step.line.get("payload")
    inside = payload.get(owner) if isinstance(payload, dict) else None
    return is_honest(step.line.get(owner)) or is_honest(inside) or isinstance(inside, str)
