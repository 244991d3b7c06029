"""An audit export does not tell which tool was called, or who decided an approval.

Why: an export exists to answer who, what and on whose authority; the platform is the only one that can.
Trips: an export with an approved action and no approver anywhere in it.
Near miss: an export whose APPROVED event names the approver and whose action record does not.
Fix: Keep the tool of every tool event and the approver of every decision in the export.
"""

from validator.protocol.honest import known
from validator.replay.readmodels.runagents import data_of
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.runagents._exports import entries, export_of
from validator.rules.runagents._facts import DECISIONS, TOOLS

DECIDED = ("APPROVED", "REJECTED", "EXECUTED")


@rule("RAG015", "export-leaves-questions", clauses={"runagents": "RA-127"}, on="record:snapshot")
def check(step, world, context):
    export = export_of(step)
    if export is None:
        return
    yield seen()
    kind = world.protocol.type_of
    where = {"entity": ("run", str(export["run"].get("id")))}
    approvers = _approvers(export, kind)
    for at, action in entries(export, "actions"):
        if word(action, "status") in DECIDED and word(action, "action_id") not in approvers:
            place = f"/snapshot/actions/{at}"
            yield finding(step, "who decided", "no approver", pointer=place, key="approver", **where)
    for at, event in entries(export, "events"):
        data = data_of(event)
        if kind(event) in TOOLS and not known(data.get("tool_id", data.get("tool"))):
            place = f"/snapshot/events/{at}"
            yield finding(step, "the tool that was called", "no tool", pointer=place, key="tool", **where)


def _approvers(export, kind):
    """Actions whose approver some part of the export names."""
    found = {word(action, "action_id") for _, action in entries(export, "actions") if known(action.get("approver_id"))}
    for _, request in entries(export, "approval_requests"):
        if known(request.get("approver_id")):
            found.add(word(request, "action_id"))
    for _, event in entries(export, "events"):
        data = data_of(event)
        if kind(event) in DECISIONS and (known(data.get("approver_id")) or known(event.get("actor"))):
            found.add(word(data, "action_id"))
    return found
