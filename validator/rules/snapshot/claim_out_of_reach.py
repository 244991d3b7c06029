"""A snapshot claims a sequence that its stream never reaches.

Why: a consumer goes on after the sequence it was told; whatever stands between the two is lost on it.
Trips: the stream ends at sequence 2, and a snapshot says that it reflects 9.
Near miss: the snapshot says 2.
Fix: State the sequence of the last event that the read model has taken in.
"""

from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.rules import END, Finding, finding, rule, seen
from validator.rules.command._commands import is_prefix
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._owners import NEEDS, WAKES, scope_of


class Ahead:
    """Claims beyond what their stream has reached; the events they speak of may stand further down."""

    hears = ()

    def __init__(self, world):
        self.claims = []

    def apply(self, step):
        """Learns nothing by itself: what the stream has reached is known when the rule is asked."""

    def note(self, claim, line):
        """Keeps a claim until the end of the capture."""
        self.claims.append((claim.session, claim.sequence, line, claim.pointer, claim.model, scope_of(claim)))


@rule(
    "SNP010",
    "claim-out-of-reach",
    clauses={"agent-runtime": ("RM-7", "SNAP-5")},
    on=(*WAKES, END),
    needs=(*NEEDS, Ahead),
)
def check(step, world, context):
    if step is None:
        if not is_prefix(world, context):
            yield from _never_reached(world)
        return
    if step.kind == "event":
        yield from _own(step)
        return
    for claim in world.ledger(Claims).now:
        reached = world.ledger(Replay).reached(claim.session)
        if claim.sequence is None or reached is None:
            continue
        if claim.sequence > reached[0]:
            world.ledger(Ahead).note(claim, step.number)
        else:
            yield seen("RM-7")


def _own(step):
    payload, own = step.line.get("payload"), step.place.sequence if step.place else None
    claimed = payload.get("as_of_sequence") if isinstance(payload, dict) else None
    if own is None or not isinstance(claimed, int):
        return
    yield seen("SNAP-5")
    if claimed > own:
        place = {"pointer": "/payload/as_of_sequence", "clause": "SNAP-5"}
        yield finding(step, f"at most {own}", str(claimed), key="as_of_sequence", **place)


def _never_reached(world):
    for session, sequence, line, pointer, model, about in world.ledger(Ahead).claims:
        reached, last = world.ledger(Replay).reached(session) or (sequence, 0)
        yield seen("RM-7")
        if sequence > reached:
            more = {"pointer": pointer, "clause": "RM-7", "entity": about, "witness": (last,), "key": model}
            yield Finding(line, f"at most {reached}", str(sequence), **more)
