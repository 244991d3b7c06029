"""A snapshot calls itself current although its stream says that it is not.

Why: what is current is acted on without asking again; a gap or a partial rebuild makes that act a guess.
Trips: history.reconstructed says degraded, and the next snapshot says current.
Near miss: the next snapshot says degraded.
Fix: Say stale or degraded, with a reason, until the gap is repaired or the facts were told again.
"""

from validator.replay.hearing import ASTRAY
from validator.rules import finding, rule, seen
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._owners import WAKES, scope_of


class Shadows:
    """What keeps the read models of a session from being current, with the lines and sequence that told it."""

    hears = ("history.reconstructed", "snapshot.repaired", "snapshot.updated", ASTRAY)

    def __init__(self, world):
        self._world = world
        self.gaps, self.degraded, self.stale = {}, {}, {}

    def apply(self, step):
        session = step.scope.get("session_id")
        if step.kind != "event" or session is None:
            return
        gap = step.place is not None and step.place.verdict == "gap"
        if not gap and step.type != "history.reconstructed" and step.type not in self._world.protocol.order["repair"]:
            return
        payload = step.line.get("payload")
        told = payload if isinstance(payload, dict) else {}
        at = ((step.number,), step.place.sequence if step.place else None)
        if gap:
            self.gaps[session] = ((step.place.previous_line or 0, step.number), step.place.sequence)
        if step.type == "history.reconstructed":
            self.degraded.pop(session, None)
            if told.get("degraded") is True:
                self.degraded[session] = at
        elif step.type in self._world.protocol.order["repair"]:
            self._repaired(step, session, told, at)

    def _repaired(self, step, session, told, at):
        if step.type == "snapshot.repaired" or told.get("recovery_mode") is True:
            self.gaps.pop(session, None)
        model = told.get("model") if isinstance(told.get("model"), str) else None
        self.stale.pop((session, model), None)
        if isinstance(told.get("stale_facts"), list) and told["stale_facts"]:
            self.stale[session, model] = at

    def over(self, claim):
        """What the document falls under: words, lines and sequence of each."""
        session = claim.session
        found = (
            ("a gap that nothing has repaired", self.gaps.get(session)),
            ("a reconstruction that was degraded", self.degraded.get(session)),
            ("facts that were told to be stale", self.stale.get((session, claim.model))),
            ("facts that were told to be stale", self.stale.get((session, None))),
        )
        return [(words, *at) for words, at in found if at is not None]


@rule("SNP014", "freshness-overstated", clauses={"agent-runtime": "RM-23"}, on=WAKES, needs=(Claims, Shadows))
def check(step, world, context):
    for claim in world.ledger(Claims).now:
        for words, lines, sequence in world.ledger(Shadows).over(claim):
            if claim.sequence is not None and sequence is not None and claim.sequence < sequence:
                continue
            yield seen()
            if claim.document.get("freshness") == "current":
                yield finding(
                    step,
                    "another word than current",
                    f"current, with {words}",
                    pointer=f"{claim.pointer}/freshness",
                    entity=scope_of(claim),
                    witness=lines,
                    key=words,
                )
                break
