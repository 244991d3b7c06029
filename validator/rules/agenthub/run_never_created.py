"""A run speaks before it was created.

Why: a stream that begins with a message or an approval says neither what the task is nor who asked for it.
Trips: run.approval.requested as the first event of a run.  Near miss: a run that is met in the middle of its stream.
Fix: Emit run.created as the first event of every run, under the id that all its events carry.
"""

from validator.replay.faded import Lines
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import entity
from validator.rules.command._commands import completeness
from validator.rules.ordering._introduced import Introduced

OWN = ("lifecycle", "phase")
"""Families whose events the table of runs refuses by itself."""


class Begun:
    """The runs that events have named."""

    forgets = ("_runs",)

    def __init__(self, world: World):
        self._runs = Lines()
        self.first = False
        """True when this is the first event of its run."""

    def apply(self, step: Step) -> None:
        run = step.scope.get("run_id")
        self.first = step.kind == "event" and run is not None and run not in self._runs
        if self.first:
            self._runs.add(run)


@rule("AHB033", "run-never-created", clauses={"agenthub": "AH-20"}, on="*", needs=(Begun, Introduced))
def check(step, world, context):
    family = world.protocol.family_of.get(step.type or "")
    if not world.ledger(Begun).first or not _from_the_start(step, world, context):
        return
    yield seen()
    shown = step.scope["run_id"] in world.ledger(Introduced).ids
    if family is not None and family not in OWN and not shown:
        yield finding(step, "run.created as the first event of the run", str(step.type), entity=entity(step))


def _from_the_start(step, world, context):
    """True when nothing of the run can lie before this event or in what was lost."""
    begins = step.place is not None and step.place.sequence is not None and step.place.sequence <= 1
    return world.unproved(step) is None and (begins or completeness(world, context) == "complete")
