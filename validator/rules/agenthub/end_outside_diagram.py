"""A run ended along an arrow that the published diagram does not draw, where the profile confines it to the diagram.

Why: a client that shows the diagram has no place for such an end.
Trips: under profile strict, a run that fails while it is only planned.  Near miss: it fails while preparing.
Fix: Fail a run only from Preparing or Running, and cancel it only from Running or NeedsApproval.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import demanded, entity, history, moved

_OUTSIDE = {"AH-42", "AH-44"}
"""The rows that allow what the diagram leaves out."""


@rule("AHB010", "end-outside-diagram", clauses={"agenthub": "AH-45"}, on=("run.failed", "run.cancelled"))
def check(step, world, context):
    move = moved(step)
    if move is None or move.source == move.target or not demanded(context, "AH-45"):
        return
    yield seen()
    if move.row.clause in _OUTSIDE:
        yield finding(
            step,
            "an end that the diagram draws",
            f"{move.target} from {move.source}",
            entity=entity(step),
            state=move.source,
            witness=history(world, step),
            key=f"{move.source} {move.target}",
        )
