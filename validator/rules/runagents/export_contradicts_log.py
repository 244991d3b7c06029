"""The status of an exported run is not the one to which its exported log leads.

Why: an auditor trusts the log; a record that says something else makes one of the two a lie.
Trips: an export whose log ends with COMPLETED and whose run says FAILED.
Near miss: an export whose log ends with an approval and whose run says COMPLETED, set through the record.
Fix: Export the record and the log from one point in time.
"""

from validator.protocol.exports import parts
from validator.replay.fold import Fold
from validator.rules import finding, rule, seen
from validator.rules.runagents._exports import entries, export_of


@rule("RAG012", "export-contradicts-log", clauses={"runagents": "RA-55"}, on="record:snapshot")
def check(step, world, context):
    export = export_of(step)
    if export is None or not export["events"]:
        return
    yield seen()
    fold = Fold(world.protocol)
    for part in parts(world.protocol, export):
        if part.at and part.at.startswith(("/events/", "/actions/")):
            fold.apply(part.document)
    _settle(fold, world, export)
    leads = fold.subjects["run"].get(str(export["run"].get("id")))
    last = fold.apply({**export["run"], "record": "run"})
    for refusal in [entry for entry in last.refusals if entry.machine == "run" and leads is not None]:
        yield finding(
            step,
            f"a status that follows from {refusal.state}",
            str(export["run"].get("status")),
            pointer="/snapshot/run/status",
            entity=("run", refusal.subject),
            state=refusal.state,
            key=f"{refusal.state} then {export['run'].get('status')}",
        )


def _settle(fold, world, export):
    """Takes the exported actions at their word: the record of an action may be all that tells how it ended."""
    states = {row["id"]: row["values"]["state"] for row in world.protocol.tables["statuses"]["rows"]}
    for _, action in entries(export, "actions"):
        subject = fold.subjects["blocked_action"].get(str(action.get("action_id")))
        if subject is not None:
            subject.state = states.get(f"blocked_action.{action.get('status')}", subject.state)
