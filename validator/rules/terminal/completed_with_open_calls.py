"""A turn was completed while one of its model requests or tool calls was open.

Why: a result that arrives after the curtain has nobody to look at it.
Trips: tool.started, then turn.completed.  Near miss: tool.failed with status cancelled stands between them.
Fix: End every request and call of the turn, as cancelled if need be, before turn.completed.
"""

from validator.rules import finding, rule, seen
from validator.rules._words import one
from validator.rules.terminal._calm import nothing_left
from validator.rules.terminal._work import OpenWork, ends, lines

PARTS = ("model_request", "tool_call")


@rule(
    "TRM006",
    "completed-with-open-calls",
    clauses={"agent-runtime": "TURN-23"},
    on="turn.completed",
    needs=(OpenWork,),
    quiet=nothing_left,
)
def check(step, world, context):
    for move in ends(world, step, "turn"):
        yield seen()
        for machine in PARTS:
            for part in world.ledger(OpenWork).of(machine, "turn_id", move.subject):
                yield finding(
                    step,
                    "every model request and tool call of the turn over or lost",
                    f"{one(machine)} is {part.state}",
                    entity=("turn", move.subject),
                    state=move.source,
                    witness=lines(world.subjects("turn")[move.subject], part),
                    key=machine,
                )
