"""A turn that a rollback took out of the view went on working.

Why: the reader was shown a thread without the turn, while the turn still calls tools and spends.
Trips: rollback removes a running turn, then it requests a model.  Near miss: the removed turn is told as cancelled.
Fix: End the work of the turns that a rollback removes, before it completes.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import lines, words

WORK = ("turn.started", "model.requested", "model.delta", "tool.started", "tool.progress", "process.started")


class Removed:
    """Turns that left the view, and the lines of the rollback that took them."""

    hears = ("history.rollback.completed",)
    forgets = ("turns",)

    def __init__(self, world):
        self._world = world
        self.turns = {}

    def apply(self, step):
        if step.type == "history.rollback.completed":
            started = self._world.subjects("rollback").get(step.scope.get("thread_id") or step.scope.get("session_id"))
            for turn in words(step, "removed_turn_ids"):
                self.turns[turn] = (step.number, *lines(started))


@rule(
    "TRM024",
    "removed-turn-works-on",
    clauses={"agent-runtime": "HIST-14"},
    on=("turn.*", *WORK),
    needs=(Removed,),
    since=("history.rollback.completed",),
)
def check(step, world, context):
    turn = step.scope.get("turn_id")
    removed = world.ledger(Removed).turns.get(turn)
    if removed is None or any(entry.machine == "turn" for entry in step.refusals):
        return
    yield seen()
    if step.type in WORK:
        subject = world.subjects("turn").get(turn)
        yield finding(
            step,
            "no work of a turn that a rollback removed",
            step.type,
            entity=("turn", turn),
            state=subject.state if subject else None,
            witness=(*removed, *lines(subject)),
        )
