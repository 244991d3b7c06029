"""A turn was queued, or left the queue, and no queue.changed says so.

Why: a queue is shown from its events; what they leave out waits for ever, or was never there.
Trips: turn.submitted says queued, the turn starts and ends, and no queue.changed named it.
Near miss: queue.changed adds it and later says started.
Fix: Emit queue.changed with added, started, removed or cleared for every change.
"""

from validator.records import dataclass
from validator.replay import world as worlds
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import completeness

ENDED = {"completed", "failed", "cancelled", "timed_out"}


@dataclass(slots=True)
class Place:
    """A turn that was submitted as queued."""

    turn: str
    line: int
    names: tuple[str, ...]
    scope: dict[str, str]
    started: int | None = None


class Places:
    """Turns submitted as queued, and the names under which a queue changed that never got them.

    A turn that is over and left the queue as it had to is let go of when others are queued, except the first: that one
    shows at the end that there were such.
    """

    hears = ("move:queue", "turn.submitted", "turn.started")
    overhears = ("turn.submitted",)

    def __init__(self, world: World):
        self._world = world
        self.turns: dict[str, Place] = {}
        self.refused: set[str] = set()
        self._swept = 0
        self._spared = 1
        """Turns that are not let go of: the first of the capture, if it is one of these sessions."""

    def apply(self, step: Step) -> None:
        self.refused.update(entry.subject for entry in step.refusals if entry.machine == "queue")
        turn = step.scope.get("turn_id")
        if step.kind != "event" or turn is None:
            return
        if step.type == "turn.submitted":
            payload = step.line.get("payload")
            body = payload if isinstance(payload, dict) else {}
            if body.get("status") == "queued" and turn in self.turns:
                self._world.mingled = True  # nobody else can tell that it was queued before
            elif body.get("status") == "queued":
                if step.number - self._swept >= worlds.RECENT:
                    self._sweep(step.number)
                names = [name for name in (body.get("queued_turn_id"), turn) if isinstance(name, str)]
                self.turns[turn] = Place(turn, step.number, tuple(names), step.scope)
        elif step.type == "turn.started" and turn in self.turns and self.turns[turn].started is None:
            self.turns[turn].started = step.number

    def overhear(self, step: Step) -> None:
        """A turn that is queued in another session is an occasion to let go of others, and may be the first."""
        payload = step.line.get("payload")
        if step.scope.get("turn_id") and isinstance(payload, dict) and payload.get("status") == "queued":
            self._spared = 0 if not self.turns else self._spared
            if step.number - self._swept >= worlds.RECENT:
                self._sweep(step.number)

    def _sweep(self, number: int) -> None:
        old, self._swept = number - worlds.RECENT, number
        for place in list(self.turns.values())[self._spared :]:
            if place.line < old and self._is_plain(place):
                del self.turns[place.turn]

    def _is_plain(self, place: Place) -> bool:
        """True when nothing will be missing at the end."""
        left = any(self._world.state("queue", name) not in (None, "waiting") for name in place.names)
        return left and self._world.state("turn", place.turn) in ENDED


@rule("CMD016", "queue-change-untold", clauses={"agent-runtime": "QUE-9"}, on=END, needs=(Places,))
def check(step, world, context):
    whole = completeness(world, context) == "complete"
    places = world.ledger(Places)
    for place in places.turns.values():
        # A change of a queue that never got the turn is refused where it is told.
        if not places.refused.isdisjoint(place.names):
            continue
        if (world.lost(place.scope) or 0) > place.line:
            continue
        over = world.state("turn", place.turn) in ENDED
        states = [world.state("queue", name) for name in place.names]
        state = next((entry for entry in states if entry), None)
        if not (whole or over):
            continue
        yield seen()
        if state is None:
            yield _finding(place, place.line, "queue.changed that adds the turn", world)
        elif state == "waiting" and place.started:
            yield _finding(place, place.started, "queue.changed with the operation started", world)
        elif state == "waiting" and over and whole:
            ended = world.subjects("turn")[place.turn].history[-1]
            yield _finding(place, ended, "queue.changed that removes or clears the turn", world)


def _finding(place, line, expected, world):
    queued = [world.subjects("queue").get(name) for name in place.names]
    lines = [entry for subject in queued if subject for entry in subject.history]
    turn = world.subjects("turn").get(place.turn)
    witness = (*lines, *(turn.history if turn else ()))
    return Finding(line, expected, "none", entity=("turn", place.turn), witness=witness, key=expected)
