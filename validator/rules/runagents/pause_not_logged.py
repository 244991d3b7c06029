"""A run was paused by its record and went on, and the log never said why it paused.

Why: the log is the audit trail; a gate that only the record knows leaves no trace of what was stopped.
Trips: event 1, a record that says PAUSED_CONSENT, then event 2 is a tool call.
Near miss: the record says PAUSED_CONSENT and CONSENT_REQUIRED is logged after it.
Fix: Log APPROVAL_REQUIRED or CONSENT_REQUIRED whenever a gate pauses the run.
"""

from validator.rules import finding, rule, seen

LOGGED = {"PAUSED_APPROVAL": ("APPROVAL_REQUIRED", "RA-36"), "PAUSED_CONSENT": ("CONSENT_REQUIRED", "RA-37")}


class Gates:
    """The pause of each run: which, the lines that tell of it, the last event before it, and whether the log does."""

    forgets = ("_last", "_behind")

    def __init__(self, world):
        self._last = {}
        self._behind = {}
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
                    self.of[move.subject] = [move.target, (step.number,), self._last.get(move.subject), logged]
        run = step.line.get("run_id")
        if step.kind == "event" and isinstance(run, str):
            self._go_on(step, run)
            if run in self.of and step.type == LOGGED[self.of[run][0]][0]:
                self.of[run][3] = True
            sequence = step.place.sequence if step.place else None
            self._last[run] = (sequence, step.number)

    def _leave(self, step, move):
        """Only the next number of the log proves that nothing stands between."""
        gate = self.of.pop(move.subject, None)
        if gate and (gate[3] or self._is_next(gate, step)):
            self.left[move.subject] = gate

        elif gate and step.kind != "event":
            self._behind[move.subject] = [gate[0], (*gate[1], step.number), *gate[2:]]

    def _go_on(self, step, run):
        """A pause that a record ended is behind the run with the next event, which may still tell of it."""
        gate = self._behind.pop(run, None)
        if gate and step.type != LOGGED[gate[0]][0] and self._is_next(gate, step):
            self.left[run] = gate

    def _is_next(self, gate, step):
        place = step.place
        return place is not None and place.verdict == "next" and gate[2] is not None and gate[2][0] == place.previous


@rule("RAG023", "pause-not-logged", clauses={"runagents": ("RA-36", "RA-37")}, on=("*", "record:run"), needs=(Gates,))
def check(step, world, context):
    for run, (state, lines, last, logged) in world.ledger(Gates).left.items():
        word, clause = LOGGED[state]
        yield seen(clause)
        if not logged:
            more = {"entity": ("run", run), "state": state, "witness": (last[1], *lines), "key": state}
            yield finding(step, f"{word} before the run goes on", "nothing in the log", clause=clause, **more)
