"""A run was paused by its record and went on, and the log never said why it paused.

Why: the log is the audit trail; a gate that only the record knows leaves no trace of what was stopped.
Trips: event 1, a record that says PAUSED_CONSENT, then event 2 is a tool call.
Near miss: the record says PAUSED_CONSENT and CONSENT_REQUIRED is logged after it.
Fix: Log APPROVAL_REQUIRED or CONSENT_REQUIRED whenever a gate pauses the run.
"""

from validator.rules import finding, rule, seen

LOGGED = {"PAUSED_APPROVAL": ("APPROVAL_REQUIRED", "RA-36"), "PAUSED_CONSENT": ("CONSENT_REQUIRED", "RA-37")}


class Gates:
    """The pause each run is in: which, since when, the last event before it, and whether the log tells of it."""

    forgets = ("_last",)

    def __init__(self, world):
        self._last = {}
        self.of = {}
        self.left = {}

    def apply(self, step):
        self.left = {}
        for move in step.moves:
            if move.machine == "run" and move.source != move.target:
                if move.source in LOGGED:
                    self._leave(step, move)
                if move.target in LOGGED:
                    logged = step.type == LOGGED[move.target][0]
                    self.of[move.subject] = [move.target, step.number, self._last.get(move.subject), logged]
        run = step.line.get("run_id")
        if step.kind == "event" and isinstance(run, str):
            if run in self.of and step.type == LOGGED[self.of[run][0]][0]:
                self.of[run][3] = True
            sequence = step.place.sequence if step.place else None
            self._last[run] = (sequence, step.number)

    def _leave(self, step, move):
        """Only the next number of the log proves that nothing stands between."""
        gate = self.of.pop(move.subject, None)
        if gate and (
            gate[3] or (step.place is not None and step.place.verdict == "next" and self._is_next(gate, step))
        ):
            self.left[move.subject] = gate

    def _is_next(self, gate, step):
        return gate[2] is not None and gate[2][0] == step.place.previous


@rule("RAG023", "pause-not-logged", clauses={"runagents": ("RA-36", "RA-37")}, on=("*", "record:run"), needs=(Gates,))
def check(step, world, context):
    for run, (state, line, last, logged) in world.ledger(Gates).left.items():
        word, clause = LOGGED[state]
        yield seen(clause)
        if not logged:
            more = {"entity": ("run", run), "state": state, "witness": (last[1], line), "key": state}
            yield finding(step, f"{word} before the run goes on", "nothing in the log", clause=clause, **more)
