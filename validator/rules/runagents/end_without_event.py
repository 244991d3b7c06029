"""The record of a run is final and its log has no event for the end.

Why: an auditor reads the log; without the event nobody can tell when the run ended, by whom, and why.
Trips: USER_MESSAGE, then a record that says COMPLETED.  Near miss: the same, then COMPLETED.
Fix: Log COMPLETED or FAILED whenever the status becomes final.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.runagents._facts import expects

EVIDENCE = {"COMPLETED": ("COMPLETED",), "FAILED": ("FAILED", "REJECTED", "INVOKE_FAILED")}


class Ends:
    """For each run whose end no event tells yet: the record that ended it, its last event, and what events told."""

    def __init__(self, world):
        self._world = world
        self.of = {}
        self.told = 0
        """Runs whose end an event tells."""

    def apply(self, step):
        run = step.line.get("run_id")
        if step.kind == "event" and isinstance(run, str):
            entry = self.of.setdefault(run, {"kinds": set(), "record": None})
            entry["kinds"].add(step.type)
            entry["last"] = (step.type, step.number)
            self._settle(run, entry)
        elif step.kind == "run" and isinstance(step.line.get("id"), str):
            for move in step.moves:
                if move.machine == "run" and move.target in EVIDENCE and move.source != move.target:
                    entry = self.of.setdefault(move.subject, {"kinds": set(), "record": None})
                    entry["record"] = (move.target, step.number)
                    self._settle(move.subject, entry)

    def _settle(self, run, entry):
        """Lets go of a run whose end is told; one that ended otherwise stays until the end of the capture."""
        status = self._world.state("run", run)
        if status not in EVIDENCE or "last" not in entry:
            return
        if entry["kinds"] & set(EVIDENCE[status]) or (status == "FAILED" and entry["last"][0] == "ERROR"):
            del self.of[run]
            self.told += 1


@rule("RAG010", "end-without-event", clauses={"runagents": "RA-44"}, on=END, needs=(Ends,))
def check(step, world, context):
    ends = world.ledger(Ends)
    if ends.told:
        yield seen()
    for run, entry in ends.of.items():
        status = world.state("run", run)
        if status not in EVIDENCE or "last" not in entry:
            continue
        yield seen()
        line = entry["last"][1]
        if entry["record"] and expects(world, context) != "prefix":
            yield Finding(
                entry["record"][1],
                f"an event that tells of {status}",
                "only the record tells it",
                pointer="/status",
                entity=("run", run),
                state=status,
                witness=(line,),
                key=status,
            )
