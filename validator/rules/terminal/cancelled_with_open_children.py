"""A task was cancelled together with its children, and a child is still at work.

Why: the user was told that it stopped, and it goes on writing, calling and spending.
Trips: cancel with propagation children, then task.cancelled while a subagent runs.  Near miss: the subagent ends first.
Fix: End jobs, processes and subagents, and record the wish to cancel for child tasks, before the parent is cancelled.
"""

from validator.rules import finding, rule, seen
from validator.rules._words import one
from validator.rules.terminal._work import Children, ends, lines, told


class Wishes:
    """Recorded wishes to cancel: the line of each, and whether it extends to children."""

    hears = ("task.cancel_requested",)
    forgets = ("lines", "extended")

    def __init__(self, world):
        self.lines = {}
        self.extended = set()

    def apply(self, step):
        task = step.scope.get("task_id")
        if step.type == "task.cancel_requested" and task is not None:
            self.lines[task] = step.number
            if told(step, "propagation") == "children":
                self.extended.add(task)


@rule(
    "TRM011",
    "cancelled-with-open-children",
    clauses={"agent-runtime": ("DONE-27", "ORC-9")},
    on="task.cancelled",
    needs=(Children, Wishes),
)
def check(step, world, context):
    children, wishes = world.ledger(Children), world.ledger(Wishes)
    for move in ends(world, step, "task"):
        if move.subject not in wishes.extended:
            continue
        kinds = {machine for machine, _ in children.below.get(move.subject, ())}
        if kinds - {"task"}:
            yield seen("DONE-27")
        if "task" in kinds:
            yield seen("ORC-9")
        for child, line in children.open(move.subject, "task", "job", "process", "subagent"):
            if child.machine == "task" and child.key in wishes.lines:
                continue
            clause = "ORC-9" if child.machine == "task" else "DONE-27"
            expected = "a wish to cancel of its own" if clause == "ORC-9" else "over or lost"
            yield finding(
                step,
                f"every {child.machine} of the task {expected} before it is cancelled",
                f"{one(child.machine)} is {child.state}",
                clause=clause,
                entity=("task", move.subject),
                state=move.source,
                witness=(*lines(world.subjects("task")[move.subject], child), line),
                key=child.machine,
            )
