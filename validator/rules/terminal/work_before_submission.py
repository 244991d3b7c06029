"""Something was done for a turn before the turn was submitted.

Why: a user is shown an answer to something that the runtime has not acknowledged.
Trips: model.requested for a turn, then turn.submitted of it.  Near miss: turn.submitted comes first.
Fix: Write turn.submitted as soon as the input is taken, before context, tools, models or anything else.
"""

from validator.replay.faded import Lines
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import unsure

WORK = ("model.*", "tool.started", "tool.args", "tool.progress", "tool.result", "tool.failed", "process.*", "action.*")
PREPARATION = ("context.resolved", "tool.catalog.resolved", "routing.*", "task.profile.resolved")


class Served:
    """Turns that a snapshot names."""

    hears = ("snapshot.*", "record:snapshot")
    forgets = ("turns",)

    def __init__(self, world):
        self.turns = Lines()

    def apply(self, step):
        if step.kind == "snapshot" or (step.type or "").startswith("snapshot."):
            for name in _turns(step.line):
                self.turns.add(name)


class Early:
    """Turns that were heard of before their submission, so that each is reported once."""

    hears = ("model.*", "tool.*", "process.*", "action.*", "context.*", "routing.*", "task.profile.resolved")
    forgets = ("lines",)
    heeds_last = False

    def __init__(self, world):
        self._turns = world.subjects("turn")
        self.lines = {}

    def apply(self, step):
        turn = step.scope.get("turn_id")
        if turn is not None and turn not in self._turns and step.kind == "event":
            kind = (step.type or "").split(".")[0]
            if kind in ("model", "tool", "process", "action") and step.type != "tool.catalog.resolved":
                self.lines.setdefault(("TURN-16", turn), step.number)
            elif kind in ("context", "tool", "routing") or step.type == "task.profile.resolved":
                self.lines.setdefault(("TURN-17", turn), step.number)


def _turns(value):
    """Every turn that a document names."""
    if isinstance(value, list):
        for entry in value:
            yield from _turns(entry)
    elif isinstance(value, dict):
        for key, entry in value.items():
            if key.endswith(("turn_id", "turn_ids")):
                yield from (name for name in (entry if isinstance(entry, list) else [entry]) if isinstance(name, str))
            else:
                yield from _turns(entry)


def submitted(step, world, context):
    """The key of work of a turn that was submitted, or of which that cannot be said: whether it is looked at."""
    turn = step.scope.get("turn_id")
    if turn is None or unsure(world, step):
        return False
    return True if turn in world.subjects("turn") else None


@rule(
    "TRM030",
    "work-before-submission",
    clauses={"agent-runtime": ("TURN-16", "TURN-17")},
    on=(*WORK, *PREPARATION),
    needs=(Early, Served),
    quiet=submitted,
)
def check(step, world, context):
    turn = step.scope.get("turn_id")
    if turn is None or unsure(world, step):
        return
    if turn in world.subjects("turn"):
        yield seen("TURN-16", "TURN-17")
        return
    early, served = world.ledger(Early), world.ledger(Served)
    for clause in ("TURN-16", "TURN-17") if turn not in served.turns else ():
        if early.lines.get((clause, turn)) == step.number:
            expected = "turn.submitted before any work for the turn"
            yield finding(step, expected, f"{step.type} comes first", clause=clause, entity=("turn", turn))
