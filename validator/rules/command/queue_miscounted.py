"""A queue is told otherwise than its changes make it.

Why: people decide by what they see waiting; a list that does not follow from the changes misleads them.
Trips: queue.changed removes a turn and still lists it.  Near miss: it lists the others, from position zero.
Fix: Write the list as it is after the operation, positions from zero, and start turns in that order.
"""

from collections import Counter

from validator.protocol.honest import known
from validator.records import dataclass, field
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen


@dataclass(slots=True)
class Queue:
    """What waits, in order, and how often each name stands there: a list may name a turn twice."""

    names: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def put(self, name: str, position: object) -> None:
        """Puts a turn at a position, or at the end; one that waits already is moved."""
        if name in self.counts:
            self.names.remove(name)
        else:
            self.counts[name] = 1
        self.names.insert(position if isinstance(position, int) else len(self.names), name)

    def take(self, names: list[str]) -> None:
        """Takes turns out."""
        gone = {name: self.counts.pop(name) for name in dict.fromkeys(names) if name in self.counts}
        if len(gone) > 1:
            self.names = [name for name in self.names if name not in gone]
        else:
            for name in (name for name, times in gone.items() for _ in range(times)):
                self.names.remove(name)

    def become(self, names: list[str]) -> None:
        """Is told as a whole."""
        self.names, self.counts = list(names), Counter(names)


class Queues:
    """What waits in each queue, in order, as far as its changes tell."""

    hears = ("queue.changed",)

    def __init__(self, world: World):
        self.world = world
        self.waiting: dict[str, Queue] = {}
        self.head: str | None = None
        """The turn that was first before the current step."""

    def apply(self, step: Step) -> None:
        self.head = None
        if step.type != "queue.changed" or step.kind != "event":
            return
        queue = self.waiting.setdefault(place(step), Queue())
        self.head = queue.names[0] if queue.names else None
        payload = step.line.get("payload")
        body = payload if isinstance(payload, dict) else {}
        ids = [body["queued_turn_id"]] if isinstance(body.get("queued_turn_id"), str) else named(body)
        operation, position = str(body.get("operation")), known(body.get("position"))
        if operation in {"added", "promoted"}:
            for key in ids:
                queue.put(key, position)
        elif operation in {"removed", "started", "cleared"}:
            queue.take(ids)
        elif operation == "reordered" and set(ids) == queue.counts.keys():
            queue.become(ids)
        if body.get("operation") is None and isinstance(body.get("queue"), list):
            queue.become(listed(body))


def place(step: Step) -> str:
    names = ("queue_id", "thread_id", "session_id")
    return next((step.scope[name] for name in names if name in step.scope), "")


def named(body):
    ids = body.get("queued_turn_ids")
    return [key for key in ids if isinstance(key, str)] if isinstance(ids, list) else []


def listed(body):
    entries = [entry for entry in body["queue"] if isinstance(entry, dict)]
    return [entry["queued_turn_id"] for entry in entries if isinstance(entry.get("queued_turn_id"), str)]


@rule(
    "CMD018",
    "queue-miscounted",
    clauses={"agent-runtime": ("QUE-12", "QUE-13", "QUE-14")},
    on="queue.changed",
    needs=(Queues,),
)
def check(step, world, context):
    payload = step.line.get("payload")
    body = payload if isinstance(payload, dict) else {}
    if isinstance(body.get("queue"), list):
        yield from _positions(step, body["queue"])
    if step.refusals or world.midway(step) or world.unproved(step) is not None:
        return
    queues = world.ledger(Queues)
    waiting = queues.waiting.get(place(step)) or Queue()
    if body.get("operation") and isinstance(body.get("queue"), list):
        yield seen("QUE-12")
        if set(listed(body)) != waiting.counts.keys():
            yield _finding(
                step, "QUE-12", "what waits after the operation", "another set of turns", "/payload/queue", world
            )
    if body.get("operation") == "started" and isinstance(body.get("queued_turn_id"), str) and queues.head:
        yield seen("QUE-14")
        if body["queued_turn_id"] != queues.head:
            expected, actual = "the turn that waits first", "another one starts"
            yield _finding(step, "QUE-14", expected, actual, "/payload/queued_turn_id", world)


def _positions(step, queue):
    found = [known(entry.get("position")) for entry in queue if isinstance(entry, dict)]
    if not found or None in found:
        return
    yield seen("QUE-13")
    if found != list(range(len(found))):
        expected = "positions from zero in the order of the list"
        yield finding(step, expected, "other positions", pointer="/payload/queue", clause="QUE-13", key="positions")


def _finding(step, clause, expected, actual, pointer, world):
    world.mingled = True
    lines = (line for subject in world.subjects("queue").values() for line in subject.history)
    return finding(step, expected, actual, pointer=pointer, clause=clause, witness=lines, key=actual)
