"""A turn was completed although its stop hook had blocked the end.

Why: the hook said that the work is not done, and nothing was done since.
Trips: a stop hook blocks, and turn.completed follows at once.
Near miss: a stop hook blocks, the model is asked again, then the turn is completed.
Fix: Work on after a blocked stop, or fail the turn; complete it only after that.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._hooks import Hooks


@rule(
    "GOV021",
    "stop-overruled",
    clauses={"agent-runtime": "HOOK-14"},
    on=("turn.completed", "hook.completed"),
    needs=(Hooks,),
)
def check(step, world, context):
    hooks, turn = world.ledger(Hooks), step.scope.get("turn_id", "")
    if step.type == "hook.completed":
        if hooks.held.get(turn) == step.number:
            yield seen()
        return
    if turn in hooks.held and not step.refusals:
        subject = world.subjects("turn").get(turn)
        started = [
            line
            for hook in world.subjects("hook").values()
            if hook.scope.get("turn_id") == turn and hooks.held[turn] in hook.history
            for line in hook.history
        ]
        yield finding(
            step,
            "work after the stop hook blocked the end",
            "turn.completed without any",
            entity=("turn", turn),
            state="held by a stop hook",
            witness=(*(subject.history if subject else ()), *started),
        )
