"""An approval for one call served another one.

Why: scope once means exactly one blocked action, and its hash one payload; whatever else runs on it nobody approved.
Trips: request q1 is approved once for action a1, then APPROVED names q1 for action a2.
Near miss: the same with scope run.
Fix: Open a new approval request for every blocked action unless the grant's scope covers it.
"""

from validator.replay.readmodels.runagents import bare_hash, data_of
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.runagents._facts import TOOLS, said_of_action


class Grants:
    """For each approval request: its scope, the action it served first, and the hash that was approved."""

    forgets = ("of",)

    def __init__(self, world):
        self.of = {}

    def apply(self, step):
        for name, value in self._said(step):
            self.of.setdefault(value["request"], {}).setdefault(name, (value[name], step.number))

    def _said(self, step):
        said = said_of_action(step)
        if "request" not in said:
            return
        granted = step.type == "APPROVED" or _status(step) == "APPROVED"
        yield from ((name, said) for name in ("scope", "hash") if name in said and step.type not in TOOLS)
        if granted:
            yield "action", said


def _status(step):
    record = step.line.get("snapshot") if step.kind == "snapshot" else None
    return record.get("status") if isinstance(record, dict) else None


@rule(
    "RAG006",
    "approval-reused",
    clauses={"runagents": ("RA-89", "RA-114")},
    on=("APPROVED", "TOOL_*", "record:snapshot"),
    needs=(Grants,),
)
def check(step, world, context):
    if step.type in TOOLS:
        yield from _call(step, world)
        return
    said = said_of_action(step)
    grant = world.ledger(Grants).of.get(said.get("request"), {})
    if "action" not in grant or grant.get("scope", ("",))[0] != "once":
        return
    if step.type != "APPROVED" and _status(step) != "APPROVED":
        return
    yield seen("RA-114")
    served, line = grant["action"]
    if said["action"] != served:
        yield finding(
            step,
            "an approval that serves exactly one action",
            "the same approval for a second action",
            pointer="/data/request_id" if step.kind == "event" else "/snapshot/action_id",
            clause="RA-114",
            entity=("approval_request", said["request"]),
            witness=(line, grant["scope"][1]),
            key="second action",
        )


def _call(step, world):
    """A call that names the approval instead of the action must still carry the approved payload."""
    data, given = data_of(step.line), bare_hash(step.line.get("payload_hash"))
    grant = world.ledger(Grants).of.get(word(data, "request_id") or "", {})
    if "action_id" in data or given is None or not {"action", "hash", "scope"} <= grant.keys():
        return
    if grant["scope"][0] == "once":
        yield seen("RA-89")
        if given != grant["hash"][0]:
            yield finding(
                step,
                "the payload that was approved",
                "another payload",
                pointer="/payload_hash",
                clause="RA-89",
                entity=("approval_request", data["request_id"]),
                witness=(grant["action"][1], grant["scope"][1], grant["hash"][1]),
                key="another payload",
            )
