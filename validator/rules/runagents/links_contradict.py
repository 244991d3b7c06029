"""An approval request and its action do not lead to each other.

Why: from a decision one has to find the run and the event, and back; a link that leads elsewhere breaks the audit.
Trips: an approval request that names an action and no run.
Near miss: an approval request for an agent and a tool that names neither run nor action.
Fix: Store run_id and action_id in the request, and its id in the action and in the events about it.
"""

from validator.rules import finding, rule, seen
from validator.rules.runagents._facts import Actions, said_of_action

ON = ("APPROVAL_REQUIRED", "APPROVED", "REJECTED", "RESUMED", "TOOL_*", "record:snapshot")


@rule("RAG020", "links-contradict", clauses={"runagents": ("RA-105", "RA-106")}, on=ON, needs=(Actions,))
def check(step, world, context):
    said = said_of_action(step)
    if not said:
        return
    if step.type == "approval_request":
        yield seen("RA-105")
        if "run" not in said and "run_id" not in step.line["snapshot"]:
            where = {"pointer": "/snapshot/run_id", "entity": ("approval_request", said.get("request", ""))}
            yield finding(step, "the run it concerns", "no run_id", clause="RA-105", key="no run", **where)
    value, line = world.ledger(Actions).known[said["action"]].first.get("request", (None, step.number))
    if line != step.number and "request" in said and not _asks(step):
        yield seen("RA-106")
        if said["request"] != value:
            yield finding(
                step,
                "the request the action was linked to",
                "another request",
                pointer=_pointer(step),
                clause="RA-106",
                entity=("blocked_action", said["action"]),
                witness=(line,),
                key=str(step.type),
            )


def _asks(step):
    """A second question about one action is another rule's business."""
    return step.type == "approval_request" and step.line["snapshot"].get("status") == "PENDING"


def _pointer(step):
    if step.kind == "event":
        return "/data/request_id"
    return "/snapshot/id" if step.type == "approval_request" else "/snapshot/request_id"
