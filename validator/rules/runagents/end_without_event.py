"""The record of a run is final and its log has no event for the end.

Why: an auditor reads the log; without the event nobody can tell when the run ended, by whom, and why.
Trips: USER_MESSAGE, then a record that says COMPLETED.  Near miss: the same, then COMPLETED.
Fix: Log COMPLETED or FAILED whenever the status becomes final.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.runagents._facts import expects

EVIDENCE = {"COMPLETED": ("COMPLETED",), "FAILED": ("FAILED", "REJECTED", "INVOKE_FAILED")}


class Ends:
    """For each run: the record that ended it, its last event, and whether an event tells of the end."""

    def __init__(self, world):
        self.of = {}

    def apply(self, step):
        run = step.line.get("run_id")
        if step.kind == "event" and isinstance(run, str):
            entry = self.of.setdefault(run, {"kinds": set(), "record": None})
            entry["kinds"].add(step.type)
            entry["last"] = (step.type, step.number)
        elif step.kind == "run" and isinstance(step.line.get("id"), str):
            for move in step.moves:
                if move.machine == "run" and move.target in EVIDENCE and move.source != move.target:
                    entry = self.of.setdefault(move.subject, {"kinds": set(), "record": None})
                    entry["record"] = (move.target, step.number)


@rule("RAG010", "end-without-event", clauses={"runagents": "RA-44"}, on=END, needs=(Ends,))
def check(step, world, context):
    for run, entry in world.ledger(Ends).of.items():
        status = world.state("run", run)
        if status not in EVIDENCE or "last" not in entry:
            continue
        yield seen()
        kind, line = entry["last"]
        told = entry["kinds"] & set(EVIDENCE[status]) or (status == "FAILED" and kind == "ERROR")
        if not told and entry["record"] and expects(world, context) != "prefix":
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
