"""The usage that a turn states is not the sum over its requests.

Why: tokens that are counted for another request, or twice, are paid for by the wrong turn.
Trips: two requests of 5 tokens each, and the turn states 5.  Near miss: the turn states 10.
Fix: Sum up the usage of the turn's own requests, or say honestly that the total is not known.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import lines, number, told

COUNTS = ("input_tokens", "output_tokens", "total_tokens")


class Usage:
    """Sums of what the requests of each open turn reported; None where one of them did not report."""

    hears = ("model.requested", "model.completed", "model.failed", "turn.completed", "turn.failed")
    forgets = ("turns",)

    def __init__(self, world):
        self.turns = {}
        self.done = None

    def apply(self, step):
        turn = step.scope.get("turn_id")
        self.done = None
        if turn is None:
            return
        if step.type == "model.requested":
            entry = self.turns.get(turn)
            if entry is None:
                entry = self.turns[turn] = {"lines": [], "open": 0, **dict.fromkeys(COUNTS, 0)}
            entry["open"] += 1
        elif step.type in ("model.completed", "model.failed") and turn in self.turns:
            self._ended(step, self.turns[turn])
        elif step.type == "turn.completed":
            self.done = self.turns.pop(turn, None)
        elif step.type == "turn.failed":
            self.turns.pop(turn, None)

    def _ended(self, step, entry):
        entry["open"] -= 1
        entry["lines"].append(step.number)
        usage = told(step, "usage")
        usage = usage if isinstance(usage, dict) else {}
        for name in COUNTS:
            count, sum_so_far = number(usage.get(name)), entry[name]
            entry[name] = None if count is None or sum_so_far is None else sum_so_far + count


@rule("RTE011", "usage-does-not-add-up", clauses={"agent-runtime": "MOD-16"}, on="turn.completed", needs=(Usage,))
def check(step, world, context):
    entry, usage = world.ledger(Usage).done, told(step, "usage")
    if entry is None or not isinstance(usage, dict) or entry["open"] or world.unproved(step) is not None:
        return
    turn = step.scope["turn_id"]
    for name in COUNTS:
        stated = number(known(usage.get(name)))
        if stated is None or entry[name] is None:
            continue
        yield seen()
        if stated != entry[name]:
            yield finding(
                step,
                f"{entry[name]:g}, the sum over the requests of the turn",
                f"{stated:g}",
                pointer=f"/payload/usage/{name}",
                entity=("turn", turn),
                witness=(*lines(world.subjects("turn").get(turn)), *_requests(world, turn), *entry["lines"]),
            )


def _requests(world, turn):
    requests = (subject for subject in world.subjects("model_request").values() if subject.scope.get("turn_id") == turn)
    return (line for subject in requests for line in subject.history)
