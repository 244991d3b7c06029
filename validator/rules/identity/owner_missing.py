"""A task, a step or an action belongs to nothing.

Why: what belongs to nothing can be neither found, nor stopped, nor charged to anybody.
Trips: action.required without a turn, a task or a call.  Near miss: action.required of a task.
Fix: Write the id of the owner into the first event of the subject, or an honest value in its place.
"""

from validator.protocol.honest import is_honest
from validator.rules import finding, rule, seen
from validator.rules.identity._parents import Named

OWNERS = {
    "task_id": ("ID-5", ("task.created",), ("session_id", "thread_id", "parent_task_id")),
    "step_id": ("ID-7", (), ("turn_id", "task_id", "run_id", "attempt_id")),
    "action_id": ("ID-9", ("action.required",), ("turn_id", "task_id", "tool_call_id")),
}
"""Clause, the events that introduce it (none: the first event that names it), and what it can belong to."""


@rule(
    "IDN014",
    "owner-missing",
    clauses={"agent-runtime": tuple(clause for clause, _, _ in OWNERS.values())},
    on="*",
    needs=(Named,),
    given=tuple(OWNERS),
)
def check(step, world, context):
    named = world.ledger(Named)
    for name, (clause, types, owners) in OWNERS.items():
        key = step.scope.get(name)
        if key is None or (types and step.type not in types) or (not types and named.before(name, key)):
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
