"""A second approval request was opened for an action whose first one is still pending.

Why: operators see the same question twice and may answer it both ways.
Trips: request q1 PENDING for action a1, then request q2 PENDING for action a1.
Near miss: request q1 PENDING for action a1, read twice.
Fix: Look for a pending request of the action before opening one.
"""

from validator.rules import finding, rule, seen
from validator.rules.runagents._facts import said_of_action


class Asked:
    """The first request about each action."""

    forgets = ("first",)

    def __init__(self, world):
        self.first = {}

    def apply(self, step):
        said = said_of_action(step) if step.type == "approval_request" else {}
        if "request" in said:
            self.first.setdefault(said["action"], (said["request"], step.number))


@rule("RAG022", "second-request", clauses={"runagents": "RA-118"}, on="record:snapshot", needs=(Asked,))
def check(step, world, context):
    said = said_of_action(step) if step.type == "approval_request" else {}
    if "request" not in said or step.line["snapshot"].get("status") != "PENDING":
        return
    yield seen()
    first, line = world.ledger(Asked).first[said["action"]]
    if first != said["request"] and world.state("approval_request", first) == "PENDING":
        where = {"pointer": "/snapshot/id", "entity": ("approval_request", said["request"]), "witness": (line,)}
        yield finding(step, "the request that is pending", "a second one", key="second", **where)
