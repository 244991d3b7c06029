"""One string is the id of everything that an event speaks about.

Why: as soon as one message causes two calls, one of which asks for a permission, nothing can be told apart.
Trips: an event whose turn, step and tool call have one id.  Near miss: an event whose turn and task have one number.
Fix: Give turns, steps, calls, actions and tasks ids of their own when they begin.
"""

from validator.rules import finding, rule, seen
from validator.rules.identity._naming import WORK, message_of
from validator.rules.identity._parents import Identities, ordinary


@rule(
    "IDN005",
    "one-id-for-everything",
    clauses={"agent-runtime": ("ID-18", "ID-17")},
    needs=(Identities,),
    quiet=ordinary,
)
def check(step, world, context):
    ids = {name: step.scope[name] for name in WORK if name in step.scope}
    if len(ids) < 3:
        return
    message = message_of(step)
    alike = len(set(ids.values())) == 1
    # A message id that stands for the work itself is forbidden; equal ids without one are only discouraged.
    clause = "ID-17" if message is not None else "ID-18"
    if not alike or (message is not None and message not in ids.values()):
        yield seen(clause)
        return
    yield finding(
        step,
        "ids that are told apart",
        f"one string for {len(ids)} ids",
        pointer=f"/{next(iter(ids))}",
        clause=clause,
        key="message" if message is not None else "alike",
    )
