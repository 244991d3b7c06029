"""A rejection in the words of the API is not followed by FAILED.

Why: REJECTED speaks about an action, FAILED about the run; a reader of run events alone never learns that it ended.
Trips: REJECTED is the last event of its run.  Near miss: REJECTED, then FAILED.
Fix: Log FAILED after REJECTED.
"""

from validator.replay.faded import Lines
from validator.replay.readmodels.words import word
from validator.rules import END, Finding, rule, seen
from validator.rules.runagents._facts import expects


class Rejected:
    """Runs whose log has REJECTED and no FAILED yet, and those that have FAILED."""

    forgets = ("_failed",)

    def __init__(self, world):
        self.lines = {}
        self.shown = 0
        """Rejections with their FAILED."""
        self._failed = Lines()

    def apply(self, step):
        # APPROVAL_REJECTED is a word of the operations page, which has no FAILED to follow it.
        run = word(step.line, "run_id")
        if step.kind == "event" and step.line.get("type") == "REJECTED":
            if run in self._failed:
                self.shown += 1
            else:
                self.lines.setdefault(run, step.number)
        elif step.kind == "event" and step.type == "FAILED":
            self._failed.add(run)
            self.shown += self.lines.pop(run, None) is not None


@rule("RAG011", "rejection-without-failure", clauses={"runagents": "RA-50"}, on=END, needs=(Rejected,))
def check(step, world, context):
    ledger = world.ledger(Rejected)
    if ledger.shown:
        yield seen()
    for run, line in ledger.lines.items():
        if expects(world, context) != "prefix":
            yield Finding(line, "FAILED after it", "no FAILED in the log", entity=("run", str(run)), key="no FAILED")
