"""Work of a turn that serves a task leaves out the task or the attempt.

Why: what a task did and cost is collected by its id; work that lacks it is missing there.
Trips: turn.started with a task, then tool.started of the turn without it; told once per type.
Near miss: tool.started with the task.
Fix: Write the ids that the turn was started with into every event of its work.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules._firsts import Firsts
from validator.rules.identity._parents import stated

NAMES = ("task_id", "run_id", "attempt_id")
WORK = ("model.*", "tool.started", "tool.result", "tool.failed", "action.*", "process.*")


class Served(Firsts):
    """What each turn was submitted or started for, and what was told about it already."""

    hears = ("turn.submitted", "turn.started")
    forgets = ("turns",)

    def __init__(self, world: World):
        super().__init__()
        self.turns: dict[str, tuple[int, tuple[str, ...]]] = {}

    def apply(self, step: Step) -> None:
        if step.type in {"turn.submitted", "turn.started"} and "turn_id" in step.scope:
            names = tuple(name for name in NAMES if name in step.scope)
            if names:
                self.turns[step.scope["turn_id"]] = (step.number, names)


@rule(
    "IDN019",
    "work-without-its-task",
    clauses={"agent-runtime": "ENV-28"},
    on=WORK,
    needs=(Served,),
    since=NAMES,
)
def check(step, world, context):
    served = world.ledger(Served)
    line, names = served.turns.get(step.scope.get("turn_id", ""), (0, ()))
    for name in names:
        yield seen()
        if not stated(step, name) and served.first(step.type, name):
            expected = f"{name}, as the turn has it"
            yield finding(step, expected, "none", witness=(line,), key=f"{step.type} {name}")
