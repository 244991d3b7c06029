"""An event leaves out a detail that readers of the log look for.

Why: the log is small on purpose; what it could name and does not has to be guessed by whoever reads it.
Trips: FAILED without a reason.  Near miss: FAILED whose data.error holds an honest unknown.
Fix: Fill the field the pointer names, or say honestly that its value is unknown.
"""

from validator.replay.faded import Lines
from validator.replay.readmodels.runagents import data_of
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen

ASKED = {
    "APPROVAL_REQUIRED": (
        ("RA-76", "/data/tool_id", ("tool_id", "tool")),
        ("RA-76", "/data/capability", ("capability",)),
        ("RA-86", "/payload_hash", ()),
    ),
    "APPROVED": (("RA-78", "/data/approver_id", ("approver_id",)),),
    "REJECTED": (("RA-78", "/data/approver_id", ("approver_id",)),),
    "RESUMED": (("RA-81", "/data/action_id", ("action_id", "request_id", "resume_id", "tool_id", "tool")),),
    "CONSENT_REQUIRED": (
        ("RA-98", "/data/tool_id", ("tool_id", "tool")),
        ("RA-98", "/data/authorization_url", ("authorization_url",)),
    ),
    "FAILED": (("RA-53", "/data/error", ("error", "reason")),),
}
"""For each event type: the clause, the place to point at, and the keys of `data` of which one is enough."""


class Blocks:
    """Actions whose block was recorded with a hash, by their record or by an earlier event."""

    forgets = ("hashed",)

    def __init__(self, world):
        self.hashed = Lines()

    def apply(self, step):
        record = step.line.get("snapshot")
        if step.type == "blocked_action" and isinstance(record, dict) and "payload_hash" in record:
            self.hashed.add(word(record, "action_id"))


@rule(
    "RAG016",
    "detail-left-out",
    clauses={"runagents": ("RA-16", "RA-53", "RA-76", "RA-78", "RA-81", "RA-86", "RA-98")},
    on="*",
    needs=(Blocks,),
)
def check(step, world, context):
    if step.type is None:
        return
    yield seen("RA-16")
    if step.line.get("actor") is None and context.level("RA-16") == "MUST":
        yield _missing(step, "RA-16", "/actor")
    data = data_of(step.line)
    for clause, place, keys in ASKED.get(step.type, ()):
        yield seen(clause)
        given = any(key in data for key in keys) if keys else _hashed(step, world, data)
        if not given:
            yield _missing(step, clause, place)


def _hashed(step, world, data):
    return step.line.get("payload_hash") is not None or word(data, "action_id") in world.ledger(Blocks).hashed


def _missing(step, clause, place):
    name = place.rsplit("/", 1)[1]
    return finding(step, name, "nothing", pointer=place, clause=clause, key=name)
