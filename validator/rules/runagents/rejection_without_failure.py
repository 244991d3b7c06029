"""A rejection in the words of the API is not followed by FAILED.

Why: REJECTED speaks about an action, FAILED about the run; a reader of run events alone never learns that it ended.
Trips: REJECTED is the last event of its run.  Near miss: REJECTED, then FAILED.
Fix: Log FAILED after REJECTED.
"""

from validator.replay.readmodels.words import word
from validator.rules import END, Finding, rule, seen
from validator.rules.runagents._facts import expects


class Rejected:
    """Runs whose log has REJECTED, and those that have FAILED."""

    def __init__(self, world):
        self.lines = {}
        self.failed = set()

    def apply(self, step):
        # APPROVAL_REJECTED is a word of the operations page, which has no FAILED to follow it.
        if step.kind == "event" and step.line.get("type") == "REJECTED":
            self.lines.setdefault(word(step.line, "run_id"), step.number)
        elif step.kind == "event" and step.type == "FAILED":
            self.failed.add(word(step.line, "run_id"))


@rule("RAG011", "rejection-without-failure", clauses={"runagents": "RA-50"}, on=END, needs=(Rejected,))
def check(step, world, context):
    ledger = world.ledger(Rejected)
    for run, line in ledger.lines.items():
        if run in ledger.failed:
            yield seen()
        elif expects(world, context) != "prefix":
            yield Finding(line, "FAILED after it", "no FAILED in the log", entity=("run", str(run)), key="no FAILED")
