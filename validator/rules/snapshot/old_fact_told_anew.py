"""An event from before a load or a rebuild is told again under another id.

Why: a consumer that counts events by their ids counts the fact twice, and shows old work as new.
Trips: history.window.loaded, then an artifact.changed that repeats an earlier one with its time and a new event_id.
Near miss: the earlier event is delivered again with its own id.
Fix: Deliver old events with the id and sequence they had, or not at all.
"""

from validator.rules import finding, rule, seen
from validator.rules._instants import instant
from validator.rules._recent import Recent

KEPT = 4096
"""Events that are remembered; older ones are not recognised."""
LOADS = ("history.window.loaded", "history.reconstructed")


class Told:
    """The last events by everything but their id and place, and the last load."""

    def __init__(self, world):
        self.facts = Recent(KEPT)
        self.loaded = None
        """Line and time of the last load."""
        self.again = None

    def apply(self, step):
        self.again, time = None, instant(step.line.get("timestamp"))
        if time is None:
            return
        if step.kind == "restart" or step.type in LOADS:
            self.loaded = (step.number, time)
        elif step.kind == "event":
            self._hear(step, time)

    def _hear(self, step, time):
        key = (step.type, time, *sorted(step.scope.items()))
        before = self.facts.get(key)
        if before is None:
            self.facts.keep(key, (step.number, step.line.get("payload")))
        elif self.loaded and before[0] < self.loaded[0] and time < self.loaded[1]:
            self.again = before if before[1] == step.line.get("payload") else None


@rule("SNP019", "old-fact-told-anew", clauses={"agent-runtime": "HIST-7"}, on=("*", "repeat"), needs=(Told,))
def check(step, world, context):
    told = world.ledger(Told)
    if told.loaded is None:
        return
    if step.repeats is not None:
        yield seen()
    elif told.again is not None:
        yield finding(
            step,
            "the id under which it was told before",
            "a new id",
            pointer="/event_id",
            witness=(told.again[0], told.loaded[0]),
            key=str(step.type),
        )
