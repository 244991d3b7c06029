"""A phase was passed without its own event, where the profile asks for one.

Why: a reader of the timeline cannot tell a phase that was skipped from one that nobody reported.
Trips: under profile strict, run.created, then run.started.  Near miss: planned, accepted and preparing in between.
Fix: Emit run.planned, run.accepted, run.preparing, and run.apply.started with run.apply.completed, as the run passes
them.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, demanded, entity, history, moved, payload, whole


@rule(
    "AHB004",
    "phase-not-reported",
    clauses={"agenthub": "AH-31"},
    on=("run.accepted", "run.preparing", "run.started", "run.patch.proposed"),
    needs=(Runs,),
)
def check(step, world, context):
    if not demanded(context, "AH-31") or not whole(world, step) or moved(step) is None:
        return
    missing = _silent(step, world)
    if missing is None:
        return
    yield seen()
    if missing:
        expected = f"an event for {', '.join(missing)}"
        witness = history(world, step)
        yield finding(step, expected, "passed in silence", entity=entity(step), witness=witness, key=" ".join(missing))


def _silent(step, world):
    """The phases left out before this event; None when the event says nothing about them."""
    if step.type == "run.patch.proposed":
        if payload(step).get("applyStatus") != "applied":
            return None
        return [] if world.ledger(Runs).of(step).applied else ["Applying"]
    phases = [row["id"] for row in world.protocol.tables["phases"]["rows"]]
    move = moved(step)
    return phases[phases.index(move.source) + 1 : phases.index(move.target)]
