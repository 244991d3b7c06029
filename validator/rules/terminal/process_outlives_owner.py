"""A process lives on after its turn or its call ended, and nothing says that it may.

Why: nobody owns it any more, so nobody stops it, reads it or pays attention when it breaks.
Trips: process.started without retention, then turn.completed.  Near miss: the same process states its retention.
Fix: End the process with its turn or call, or state in `retention` how long it is kept.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._calm import nothing_left
from validator.rules.terminal._work import OpenWork, ends, lines, told


class Retentions:
    """Processes that say what happens to them when their owner ends, and those already reported."""

    hears = ("process.started", "process.completed", "process.failed", "process.terminated")
    forgets = ("kept",)

    def __init__(self, world):
        self.kept = set()
        self.reported = set()

    def apply(self, step):
        if step.type == "process.started" and told(step, "retention"):
            self.kept.add(step.scope.get("process_id"))
        elif step.type in ("process.completed", "process.failed", "process.terminated"):
            self.kept.discard(step.scope.get("process_id"))


@rule(
    "TRM007",
    "process-outlives-owner",
    clauses={"agent-runtime": ("PROC-17", "PROC-16")},
    on=("turn.*", "tool.result", "tool.failed"),
    needs=(OpenWork, Retentions),
    quiet=nothing_left,
)
def check(step, world, context):
    retentions = world.ledger(Retentions)
    for move in ends(world, step, "turn", "tool_call"):
        clause, name = ("PROC-17", "turn_id") if move.machine == "turn" else ("PROC-16", "tool_call_id")
        for process in world.ledger(OpenWork).of("process", name, move.subject):
            yield seen(clause)
            if process.key in retentions.kept or process.key in retentions.reported:
                continue
            retentions.reported.add(process.key)
            yield finding(
                step,
                f"a process that is over with its {move.machine}, or that states its retention",
                f"a process without retention is {process.state}",
                clause=clause,
                entity=("process", process.key),
                state=process.state,
                witness=lines(world.subjects(move.machine)[move.subject], process),
                key=move.machine,
            )
