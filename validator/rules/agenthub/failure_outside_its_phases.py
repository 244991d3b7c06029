"""A run failed in a phase that its code cannot come from.

Why: code and phase together tell the user where to look; when they contradict each other, one of them is wrong.
Trips: a run that reports its phases fails with runtime_unavailable while it is only planned.
Near miss: while preparing.
Fix: Use the code of the cause, or report the phase the run had reached before it failed.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved, payload, whole, word


@rule("AHB026", "failure-outside-its-phases", clauses={"agenthub": "AH-123"}, on="run.failed", needs=(Runs,))
def check(step, world, context):
    move, code = moved(step), word(payload(step), "code")
    rows = {row["id"]: row["values"]["origins"] for row in world.protocol.tables["failures"]["rows"]}
    # Whether a rejection was really made is another question; a run that is only created has reported no phase yet.
    if move is None or code not in rows or code == "approval_rejected" or move.source in {"Created", move.target}:
        return
    if not whole(world, step) or world.ledger(Runs).of(step).silent:
        return
    yield seen()
    if move.source not in rows[code]:
        yield finding(
            step,
            f"{code} in one of {', '.join(rows[code])}",
            f"the run is {move.source}",
            pointer="/payload/code",
            entity=entity(step),
            state=move.source,
            witness=history(world, step),
            key=f"{code} {move.source}",
        )
