"""A child is spawned without the thread it works in.

Why: the child's own events carry its thread; without the link nobody knows that they are the child's.
Trips: subagent.spawned without child_thread_id.  Near miss: subagent.spawned with an honest value in its place.
Fix: Reserve the thread first, and name it in child_thread_id.
"""

from validator.rules import finding, rule, seen


@rule("IDN007", "child-without-thread", clauses={"agent-runtime": "SUB-11"}, on="subagent.spawned")
def check(step, world, context):
    yield from told(step, "child_thread_id", "the thread of the child")


def told(step, name, expected):
    """A look when the payload states a field, be it honestly unknown; a finding when it is silent."""
    payload = step.line.get("payload")
    if isinstance(payload, dict) and payload.get(name) is not None:
        yield seen()
        return
    entity = ("subagent", step.scope.get("subagent_id", ""))
    yield finding(step, expected, "none", pointer="/payload", entity=entity, key=f"no {name}")
