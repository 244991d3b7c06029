"""A snapshot, or an event about one, leaves out what a reader needs to place it.

Why: without its sequence a document cannot be joined with the stream, and without a reason doubt cannot be weighed.
Trips: a snapshot.updated that names its model and no sequence.  Near miss: one that gives both.
Fix: Fill the field that the pointer names, or say honestly that it is not known.
"""

from validator.replay.readmodels.agent_runtime.names import LIMITS
from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.rules import finding, rule, seen
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._owners import NEEDS, WAKES, scope_of

CLAUSES = ("RM-5", "RM-24", "SNAP-2", "SNAP-4", "SNAP-9")
ASKED = (
    ("SNAP-2", "model", ("snapshot.updated", "snapshot.repaired")),
    ("SNAP-4", "as_of_sequence", ("snapshot.updated", "snapshot.repaired")),
    ("SNAP-9", "reason", ("snapshot.repaired",)),
)
"""The clause, the field of the payload, and the events that have it."""


@rule("SNP013", "snapshot-says-too-little", clauses={"agent-runtime": CLAUSES}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    if step.kind == "event":
        yield from _event(step)
    for claim in world.ledger(Claims).now:
        if claim.model in LIMITS:
            yield from _document(step, world, claim)


def _event(step):
    payload = step.line.get("payload")
    told = payload if isinstance(payload, dict) else {}
    for clause, name, types in ASKED:
        if step.type in types and not (name == "as_of_sequence" and step.place and step.place.sequence is None):
            yield seen(clause)
            if name not in told:
                yield finding(step, name, "nothing", pointer=f"/payload/{name}", clause=clause, key=name)


def _document(step, world, claim):
    more = {"entity": scope_of(claim)}
    reached = world.ledger(Replay).reached(claim.session)
    if reached is not None and claim.source != "event":
        yield seen("RM-5")
        if claim.sequence is None and "as_of_sequence" not in claim.document:
            more |= {"clause": "RM-5", "witness": (reached[1],), "key": claim.source}
            yield finding(step, "as_of_sequence", "nothing", pointer=f"{claim.pointer}/as_of_sequence", **more)
    freshness = claim.document.get("freshness")
    if isinstance(freshness, str) and freshness != "current":
        yield seen("RM-24")
        if "freshness_reason" not in claim.document:
            more |= {"clause": "RM-24", "key": "freshness_reason", "witness": ()}
            yield finding(step, "freshness_reason", "nothing", pointer=f"{claim.pointer}/freshness_reason", **more)
