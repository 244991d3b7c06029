"""A triage event was not followed by the failure that it announces.

Why: the event explains an end; when the run goes on, completes or fails for another cause, the explanation is false.
Trips: runtime.timeout, then run.completed.  Near miss: runtime.timeout, then run.failed with run_timeout.
Fix: End the run with run.failed and the code of the triage event; do not report what the run recovers from as triage.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved, payload, word

_TRIAGE = ("runtime.unavailable", "runtime.timeout", "schema.validation_failed")


@rule(
    "AHB027",
    "triage-without-its-failure",
    clauses={"agenthub": "AH-121"},
    on=("run.completed", "run.failed", *_TRIAGE),
    needs=(Runs,),
)
def check(step, world, context):
    if step.type in _TRIAGE:
        yield from _too_late(step, world)
        return
    triage, move = world.ledger(Runs).of(step).triage, moved(step)
    if not triage or move is None or move.source == move.target:
        return
    yield seen()
    codes = list(dict.fromkeys(code for code, _ in triage))
    code = word(payload(step), "code") if step.type == "run.failed" else None
    if code not in codes:
        yield finding(
            step,
            f"run.failed with {' or '.join(codes)}",
            f"run.failed with {code}" if code else "run.completed",
            pointer="/payload/code" if code else "",
            entity=entity(step),
            state=move.source,
            witness=(*history(world, step), *(line for _, line in triage)),
            key=f"{codes[0]} {code}",
        )


def _too_late(step, world):
    """A triage event after the end of its run has nothing that could follow it."""
    state = world.state("run", step.scope.get("run_id"))
    if state in {"Completed", "Failed"}:
        yield finding(
            step,
            "the triage event before the end it explains",
            f"the run is already {state}",
            entity=entity(step),
            state=state,
            witness=history(world, step),
            key=str(step.type),
        )
