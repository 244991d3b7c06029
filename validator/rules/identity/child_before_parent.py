"""A child names a parent that is introduced only later.

Why: until then every consumer has to keep the child on probation, and most drop it.
Trips: turn.submitted in thread h1, then thread.started of h1.  Near miss: thread.started first.
Fix: Emit the event that introduces a session, thread, turn, task or tool call before the first event that names it.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._naming import INTRODUCES
from validator.rules.identity._parents import Identities, ordinary


@rule(
    "IDN009",
    "child-before-parent",
    clauses={"agent-runtime": "ID-26"},
    on=tuple(INTRODUCES),
    needs=(Identities,),
    quiet=ordinary,
)
def check(step, world, context):
    name, roles = INTRODUCES[step.type]
    parent = step.scope.get(name)
    ids = world.ledger(Identities)
    # A second introduction is a fault of its own.
    if parent is None or step.refusals or ids.again is not None:
        return
    kind = name.removesuffix("_id")
    lines = [line for role in roles if (line := ids.before(role, parent)) is not None]
    if not lines:
        yield seen()
        return
    yield finding(
        step,
        f"the {kind} introduced before it is named",
        "events that named it before",
        pointer=f"/{name}",
        entity=(kind, parent),
        witness=(min(lines),),
        key=kind,
    )
