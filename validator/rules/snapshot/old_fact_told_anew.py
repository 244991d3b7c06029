"""An event from before a load or a rebuild is told again under another id.

Why: a consumer that counts events by their ids counts the fact twice, and shows old work as new.
Trips: history.window.loaded, then an artifact.changed that repeats an earlier one with its time and a new event_id.
Near miss: the earlier event is delivered again with its own id.
Fix: Deliver old events with the id and sequence they had, or not at all.
"""

from validator.capture.encode import unpack
from validator.protocol.formats import instant
from validator.rules import finding, rule, seen
from validator.rules._recent import Recent

KEPT = 4096
"""Events that are remembered; older ones are not recognised."""
LOADS = ("history.window.loaded", "history.reconstructed")


class Told:
    """The last events by everything but their id and place, and the last load of each session."""

    forgets = ("_loads",)

    def __init__(self, world):
        self.facts = Recent(KEPT)
        self._relied, self._age = False, 0
        """Whether a fact that was kept was found again, and how many lines the oldest waited that was looked at."""
        self._waiting = {}
        """The events of each session that were not looked at, because nothing of it was loaded; each with its count.

        Those of a stretch are one entry, with the count of the last and the line of the first.
        """
        self._count = 0
        """Events that have waited; of all of them only the last are looked at."""
        self._loads = {}
        """Session to line and time of its last load; a restart loads all of them, under no name."""
        self.loaded = None
        """The load before the step at hand."""
        self.again = None

    def load_of(self, scope):
        """Line and time of the last load that concerns a session; None when there was none."""
        loads = self._loads
        own, every = loads.get(scope.get("session_id", "")), loads.get("")
        return max(own, every) if own and every else own or every

    def alike(self, step):
        return self.loaded is None

    def tell(self):
        return self.facts.kept, self._relied, self._age

    def hear(self, told, first):
        """What waited for no more lines than fit, and what was found while all facts fit, was there in any case."""
        kept, relied, ages = zip(*told, strict=True)
        return max(ages) <= KEPT and (sum(kept) <= KEPT or not any(relied))

    def echo(self, told):
        before = self._count // KEPT
        for stretch in told:
            self._count += len(stretch.lines)
            like = stretch.like
            entry = (self._count, like.type, like.scope, stretch.lines, stretch.number)
            self._waiting.setdefault(like.scope["session_id"], []).append(entry)
        if self._count // KEPT > before:
            self._shed()

    def apply(self, step):
        self.again = None
        if step.kind == "restart" or step.type in LOADS:
            time = instant(step.line.get("timestamp"))
            if time is not None:
                self._loads[step.scope.get("session_id", "") if step.kind == "event" else ""] = (step.number, time)
        elif step.kind == "event":
            self.loaded = self.load_of(step.scope) if self._loads else None
            if self.loaded is None:
                self._wait(step, step.packed() if step.raw is None else step.raw, step.number)
                return
            for kind, scope, line, number in self._take(step.scope.get("session_id", "")):
                self._age = max(self._age, step.number - number)
                self._hear(kind, scope, unpack(line), number)
            self.again = self._hear(step.type, step.scope, step.line, step.number)

    def _wait(self, step, line, number):
        count = self._count = self._count + 1
        session = step.scope.get("session_id", "")
        waiting = self._waiting.get(session)
        if waiting is None:
            waiting = self._waiting[session] = []
        waiting.append((count, step.type, step.scope, line, number))
        if count % KEPT == 0:
            self._shed()

    def _shed(self):
        """Lets go what is too old, so that little more than twice as many wait as are looked at."""
        kept = {name: self._recent(entries) for name, entries in self._waiting.items()}
        self._waiting = {name: entries for name, entries in kept.items() if entries}

    def _recent(self, entries):
        oldest = self._count - KEPT
        return [entry for entry in entries if entry[0] > oldest]

    def _take(self, session):
        """What waits of a session and is not too old, one by one; it waits no longer."""
        for count, kind, scope, told, number in self._recent(self._waiting.pop(session, ())):
            if type(told) is not list:
                yield kind, scope, told, number
                continue
            first = max(len(told) - (count - (self._count - KEPT)), 0)
            for place in range(first, len(told)):
                yield kind, scope, told[place], number + place

    def _hear(self, kind, scope, line, number):
        time = instant(line.get("timestamp"))
        if time is None:
            return None
        payload = line.get("payload")
        key = (kind, time, *sorted(scope.items()))
        before, loaded = self.facts.get(key), self.loaded
        if before is None:
            self.facts.keep(key, (number, payload))
            return None
        self._relied = True
        old = before[0] < loaded[0] < number and time < loaded[1]
        return before if old and before[1] == payload else None


@rule(
    "SNP019",
    "old-fact-told-anew",
    clauses={"agent-runtime": "HIST-7"},
    on=("*", "repeat"),
    needs=(Told,),
    since=("record:restart", *LOADS),
)
def check(step, world, context):
    told = world.ledger(Told)
    if step.repeats is not None:
        if told.load_of(world.protocol.lens.scope(step.line)) is not None:
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
