"""Something was done for a turn before the turn was submitted.

Why: a user is shown an answer to something that the runtime has not acknowledged.
Trips: model.requested for a turn, then turn.submitted of it.  Near miss: turn.submitted comes first.
Fix: Write turn.submitted as soon as the input is taken, before context, tools, models or anything else.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import unsure

WORK = ("model.*", "tool.started", "tool.args", "tool.progress", "tool.result", "tool.failed", "process.*", "action.*")
PREPARATION = ("context.resolved", "tool.catalog.resolved", "routing.*", "task.profile.resolved")


class Early:
    """Turns that were heard of before their submission, so that each is reported once."""

    hears = ("model.*", "tool.*", "process.*", "action.*", "context.*", "routing.*", "task.profile.resolved")
    forgets = ("lines",)

    def __init__(self, world):
        self._world = world
        self.lines = {}
        self._types = 0
        self._served = False

    def apply(self, step):
        turn = step.scope.get("turn_id")
        if step.kind == "event" and turn is not None and turn not in self._world.subjects("turn"):
            kind = (step.type or "").split(".")[0]
            if kind in ("model", "tool", "process", "action") and step.type != "tool.catalog.resolved":
                self.lines.setdefault(("TURN-16", turn), step.number)
            elif kind in ("context", "tool", "routing") or step.type == "task.profile.resolved":
                self.lines.setdefault(("TURN-17", turn), step.number)

    def served(self):
        """True when read models were served: they may have told of the turn."""
        types = self._world.observed_types
        if len(types) != self._types:
            self._types = len(types)
            self._served = any(kind.endswith(("_snapshot", "_read_model", "_summary")) for kind in types)
        return self._served


@rule(
    "TRM030",
    "work-before-submission",
    clauses={"agent-runtime": ("TURN-16", "TURN-17")},
    on=(*WORK, *PREPARATION),
    needs=(Early,),
)
def check(step, world, context):
    turn = step.scope.get("turn_id")
    if turn is None or unsure(world, step) or world.ledger(Early).served():
        return
    early = world.ledger(Early).lines
    for clause in ("TURN-16", "TURN-17"):
        if early.get((clause, turn)) == step.number:
            expected = "turn.submitted before any work for the turn"
            yield finding(step, expected, f"{step.type} comes first", clause=clause, entity=("turn", turn))
            return
    if turn in world.subjects("turn"):
        yield seen("TURN-16", "TURN-17")
