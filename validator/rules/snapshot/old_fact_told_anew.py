"""An event from before a load or a rebuild is told again under another id.

Why: a consumer that counts events by their ids counts the fact twice, and shows old work as new.
Trips: history.window.loaded, then an artifact.changed that repeats an earlier one with its time and a new event_id.
Near miss: the earlier event is delivered again with its own id.
Fix: Deliver old events with the id and sequence they had, or not at all.
"""

from collections import deque

from validator.capture.encode import unpack
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
        self._waiting = deque(maxlen=KEPT)
        """Events before the first load: they are only looked at if one comes."""
        self.loaded = None
        """Line and time of the last load."""
        self.again = None

    def alike(self, step):
        return self.loaded is None

    def echo(self, step, place, raw, number):
        self._waiting.append((step.type, None, step.scope, raw, number))

    def apply(self, step):
        self.again = None
        if step.kind == "restart" or step.type in LOADS:
            time = instant(step.line.get("timestamp"))
            self.loaded = (step.number, time) if time is not None else self.loaded
        elif step.kind == "event":
            self._waiting.append(
                (step.type, step.line.get("timestamp"), step.scope, step.line.get("payload"), step.number)
            )
            while self.loaded is not None and self._waiting:
                self._hear(*self._waiting.popleft())

    def _hear(self, kind, stamp, scope, payload, number):
        if isinstance(payload, bytes):
            line = unpack(payload)
            stamp, payload = line["timestamp"], line["payload"]
        time = instant(stamp)
        if time is None:
            return
        key = (kind, time, *sorted(scope.items()))
        before = self.facts.get(key)
        if before is None:
            self.facts.keep(key, (number, payload))
        elif before[0] < self.loaded[0] < number and time < self.loaded[1]:
            self.again = before if before[1] == payload else None


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
