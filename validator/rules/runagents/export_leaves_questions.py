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
    told = _tools(export)
    for at, event in entries(export, "events"):
        if kind(event) in TOOLS and not _tool(event) and not _follows(event, kind(event), told):
            place = f"/snapshot/events/{at}"
            yield finding(step, "the tool that was called", "no tool", pointer=place, key="tool", **where)


def _tool(event):
    data = data_of(event)
    return known(data.get("tool_id", data.get("tool")))


def _tools(export):
    """Actions whose tool some part of the export names, and None when an event names one."""
    found = {word(action, "action_id") for _, action in entries(export, "actions") if known(action.get("tool_id"))}
    for _, event in entries(export, "events"):
        if _tool(event):
            found |= {None, word(data_of(event), "action_id")}
    return found


def _follows(event, kind, told):
    """True when the tool is told elsewhere: by the action that is named, or for an answer by the call before it."""
    action = word(data_of(event), "action_id")
    return action in told if action else kind == "TOOL_RESPONSE" and None in told


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
