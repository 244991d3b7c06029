"""A turn was accepted for a thread whose turn was still under way.

Why: two turns at once in one ordered context leave neither with a context that anybody can reproduce.
Trips: a turn has started, and a second turn.submitted of the thread says accepted.
Near miss: the second is submitted as queued.
Fix: Queue the turn, or reject the command and name the policy.
"""

from validator.replay.step import Move, Step
from validator.replay.world import World
from validator.rules import finding, rule, seen


class Busy:
    """The turns of each thread that have started and are not over."""

    hears = ("move:turn",)
    forgets = ("turns",)
    heeds_last = False

    def __init__(self, world: World):
        self._subjects = world.subjects("turn")
        machine = world.protocol.machines["turn"]
        self._resting = {"accepted", "queued", "lost", *filter(machine.is_terminal, machine.states)}
        """The states of a turn that has not started, or is over."""
        self.turns: dict[str, dict[str, int]] = {}

    def apply(self, step: Step) -> None:
        for move in step.moves:
            if move.machine == "turn":
                thread = self._subjects[move.subject].scope.get("thread_id")
                if thread is not None:
                    self._note(thread, move, step.number)

    def _note(self, thread: str, move: Move, number: int) -> None:
        turns = self.turns.get(thread)
        if move.target in self._resting:
            if turns:
                turns.pop(move.subject, None)
        elif turns is None:
            self.turns[thread] = {move.subject: number}
        elif move.subject not in turns:
            turns[move.subject] = number


@rule("CMD017", "busy-thread-accepted", clauses={"agent-runtime": "QUE-8"}, on="turn.submitted", needs=(Busy,))
def check(step, world, context):
    turns = world.subjects("turn")
    # The first of them began first.
    others = world.ledger(Busy).turns.get(step.scope.get("thread_id", ""), ())
    other = next((key for key in others if not turns[key].doubted), None)
    if other is None or step.refusals:
        return
    yield seen()
    turn = step.scope.get("turn_id", "")
    if world.state("turn", turn) == "accepted":
        yield finding(
            step,
            "queued, or refused with the policy",
            "accepted while another turn is under way",
            pointer="/payload/status",
            entity=("turn", turn),
            witness=tuple(turns[other].history),
        )
