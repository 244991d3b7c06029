"""An interrupt treated the queued turns otherwise than its policy says.

Why: who interrupts one turn decides at the same time what becomes of those that wait behind it.
Trips: interrupt_turn with queue_policy clear is accepted, and the queued turn still waits at the end.
Near miss: queue.changed clears the queued turn.
Fix: Clear the queue by queue.changed, or leave it alone, as queue_policy says.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import END, Finding, rule, seen
from validator.rules.command._commands import Commands, came_to_rest, history, went_on
from validator.rules.command._sent import DONE, Sent


class Interrupts:
    """Interrupts that state a policy for the queue, with the turns that waited in the thread."""

    hears = ("record:command", "queue.changed")

    def __init__(self, world: World):
        self.world = world
        self.sent: list[tuple[Sent, list[str]]] = []
        self.cleared: dict[str, int] = {}
        """Queued turn that waited at an interrupt to the line that cleared it."""

    def apply(self, step: Step) -> None:
        if step.kind == "command" and step.line.get("command") == "interrupt_turn":
            sent = self.world.ledger(Commands).current
            waiting = self._waiting(sent) if sent and sent.request.get("queue_policy") in ("keep", "clear") else None
            if sent and waiting:
                self.sent = [entry for entry in self.sent if not self._is_over(*entry)]
                self.sent.append((sent, waiting))
                kept = {turn for _, turns in self.sent for turn in turns}
                self.cleared = {turn: line for turn, line in self.cleared.items() if turn in kept}
        elif step.type == "queue.changed" and step.kind == "event":
            for move in step.moves:
                if move.machine == "queue" and move.target == "removed" and self._waited(move.subject):
                    self.cleared[move.subject] = step.number

    def _waited(self, turn):
        return any(turn in turns for _, turns in self.sent)

    def _is_over(self, sent, waiting):
        """True when the policy was kept for certain; what came first is kept to show that it was looked at."""
        if sent is self.sent[0][0] or sent.answered is None:
            return False
        if sent.request["queue_policy"] == "clear":
            return not any(self.world.state("queue", turn) == "waiting" for turn in waiting)
        return not any(sent.line < self.cleared.get(turn, 0) < sent.answered for turn in waiting)

    def _waiting(self, sent):
        turn = self.world.subjects("turn").get(sent.subject or "")
        thread = sent.request.get("thread_id") or (turn.scope.get("thread_id") if turn else None)
        entries = self.world.subjects("queue").values()
        return [entry.key for entry in entries if entry.state == "waiting" and entry.scope.get("thread_id") == thread]


@rule("CMD019", "queue-policy-ignored", clauses={"agent-runtime": "CTL-66"}, on=END, needs=(Interrupts, Commands))
def check(step, world, context):
    commands, interrupts = world.ledger(Commands), world.ledger(Interrupts)
    for sent, waiting in interrupts.sent:
        if sent.outcome not in DONE or not came_to_rest(world, context, sent, sent.answered):
            continue
        yield seen()
        proof = (sent.line, sent.answered, *history(world, sent), *went_on(commands, sent.answered))
        left = [turn for turn in waiting if world.state("queue", turn) == "waiting"]
        if sent.request["queue_policy"] == "clear" and left:
            lines = tuple(line for turn in left for line in world.subjects("queue")[turn].history)
            yield Finding(
                sent.answered,
                "queue.changed that clears the queued turns",
                "they still wait",
                entity=("command", sent.key),
                witness=(*proof, *lines),
                key="clear",
            )
        elif sent.request["queue_policy"] == "keep":
            lost = [turn for turn in waiting if sent.line < interrupts.cleared.get(turn, 0) < sent.answered]
            if lost:
                yield Finding(
                    interrupts.cleared[lost[0]],
                    "queued turns are kept",
                    "a queued turn is removed by the interrupt",
                    entity=("queue", lost[0]),
                    witness=(*proof, *world.subjects("queue")[lost[0]].history),
                    key="keep",
                )
