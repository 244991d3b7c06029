"""Work is completed although a runtime.error called it fatally hit.

Why: an error that was not fatal is a warning; who gives up on the work at the error misses that it went on.
Trips: runtime.error of turn u1, then turn.completed.  Near miss: runtime.warning of turn u1, then turn.completed.
Fix: Use runtime.warning for a problem that work survives, and end what a fatal one hits by its own event.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules._words import one
from validator.rules.terminal._work import GOOD, ends, lines, told

NAMES = (
    ("process_id", "process"),
    ("tool_call_id", "tool_call"),
    ("model_request_id", "model_request"),
    ("job_item_id", "job_item"),
    ("run_id", "attempt"),
    ("job_id", "job"),
    ("subagent_id", "subagent"),
    ("task_id", "task"),
    ("turn_id", "turn"),
)
"""What an error can name, the narrowest first: it is fatal for that, not for what is around it."""


class Fatal:
    """What an error has hit and is not over, with the line of the error."""

    hears = ("runtime.error", "runtime.warning")
    forgets = ("hit",)

    def __init__(self, world: World):
        self.hit: dict[tuple[str, str], tuple[int, str | None]] = {}

    def apply(self, step: Step) -> None:
        if step.type not in {"runtime.error", "runtime.warning"}:
            return
        incident = told(step, "incident_id")
        if told(step, "cleared") is True:
            self.hit = {key: entry for key, entry in self.hit.items() if entry[1] is None or entry[1] != incident}
        elif step.type == "runtime.error" and told(step, "failed_operation") is None:
            named = next(((machine, step.scope[name]) for name, machine in NAMES if name in step.scope), None)
            if named:
                self.hit.setdefault(named, (step.number, incident))


@rule(
    "TRM035",
    "completed-after-fatal-error",
    clauses={"agent-runtime": "RUN-10"},
    on=("turn.*", "task.*", "tool.*", "process.*", "model.*", "job.*", "subagent.*"),
    needs=(Fatal,),
    since=("runtime.error",),
)
def check(step, world, context):
    hit = world.ledger(Fatal).hit
    for move in ends(world, step, *(machine for _, machine in NAMES)) if hit else ():
        line, _ = hit.pop((move.machine, move.subject), (None, None))
        if line is None:
            continue
        yield seen()
        if move.target in GOOD:
            yield finding(
                step,
                f"{one(move.machine)} that fails, or a warning in place of the error",
                move.target,
                entity=(move.machine, move.subject),
                state=move.source,
                witness=(line, *lines(world.subjects(move.machine).get(move.subject))),
                key=move.machine,
            )
