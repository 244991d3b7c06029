"""A fact has one value in the payload and another beside it.

Why: the payload wins, so whoever reads the other place, a filter or an index, acts on something that is not so.
Trips: payload.status failed and status cancelled in one event.  Near miss: the same status in both places.
Fix: Write a fact once, or copy it from one variable.
"""

from validator.protocol.honest import is_honest
from validator.replay.form import Condition
from validator.rules import finding, rule, seen

WORDS = ("status", "phase", "status_reason", "native_status", "output_ref")
# A parent's task in a payload is the parent of a child agent, beside it that of the task.
OTHERS = {"parent_task_id"}
SIDES = {
    "task": ("task",),
    "task_attempt": ("attempt",),
    "permission_decision": ("permission",),
    "sandbox_profile": ("sandbox",),
    "hook_run": ("hook",),
    "cost_state": ("cost",),
}
"""Side objects whose fields an event of these families also has directly in its payload."""
TYPES = {
    "task_progress": ("task.progress",),
    "task_profile": ("task.profile.resolved",),
    "routing_decision": ("routing.decided", "routing.single_candidate"),
    "candidate_model_set": ("routing.candidates.resolved",),
    "limit_event": ("rate_limit.hit", "quota.low", "quota.blocked"),
}
RECORDS = (*SIDES, *TYPES, "worker", "limit_state", "execution_environment", "task_graph", "task_relationship")
"""Side objects that a payload may hold whole, under the same name."""

SPELLINGS = (("allow", "allowed"), ("deny", "denied"))


def tells_twice(form):
    """True for lines with an object beside the payload that may say the same, or with a fact at two depths."""
    return form.twice or not form.top.isdisjoint(RECORDS)


@rule("IDN011", "payload-contradicted", clauses={"agent-runtime": "ENV-15"}, given=Condition(RECORDS, tells_twice))
def check(step, world, context):
    payload = step.line.get("payload")
    if not isinstance(payload, dict):
        return
    for pointer, inside, outside in _pairs(step, world, payload):
        if is_honest(inside) or is_honest(outside) or inside is None or outside is None:
            continue
        if inside == outside or _same_word(inside, outside):
            yield seen()
            continue
        expected = "the value that the payload has"
        yield finding(step, expected, "another value beside it", pointer=pointer, key=pointer)


def _pairs(step, world, payload):
    """Every fact that stands in both places: where beside the payload, and both values."""
    line = step.line
    both = payload.keys() & line.keys()
    for name in (*WORDS, *world.protocol.identities) if both else ():
        if name in both and name not in OTHERS:
            yield f"/{name}", payload[name], line[name]
    family = world.protocol.family_of.get(step.type or "", "")
    for side, beside in line.items():
        if not isinstance(beside, dict) or side == "payload" or is_honest(beside):
            continue
        inside = payload.get(side)
        if isinstance(inside, dict) and side in RECORDS:
            yield from ((f"/{side}/{key}", inside[key], beside[key]) for key in beside if key in inside)
        elif family in SIDES.get(side, ()) or step.type in TYPES.get(side, ()):
            yield from ((f"/{side}/{key}", payload[key], beside[key]) for key in beside if key in payload)


def _same_word(one, other):
    """True for the two spellings of one decision, such as allow and allowed."""
    return (one, other) in SPELLINGS or (other, one) in SPELLINGS
