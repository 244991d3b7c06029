"""A rollback failed and no repair says what holds now.

Why: after half a rollback no reader knows which turns are in force.
Trips: a rollback fails and the thread goes on.  Near miss: snapshot.repaired follows the failure.
Fix: Write a snapshot.repaired after a rollback that failed, before the thread goes on.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.terminal._work import lines


class Failures:
    """Failed rollbacks that no repair has followed, with what came after them."""

    since = ("move:rollback",)
    heeds_last = False

    def __init__(self, world):
        self._world = world
        self.open = {}
        self.repaired = 0

    def tell(self):
        return self.repaired

    def hear(self, told, first):
        """That there were such is looked at once, by the first."""
        self.repaired = sum(told) if first else 0
        return True

    def alike(self, step):
        return not self.open

    def apply(self, step):
        if step.kind != "event":
            return
        if self.open:
            self._hear(step)
        for move in step.moves:
            if move.machine == "rollback" and move.target == "failed":
                history = lines(self._world.subjects("rollback")[move.subject])
                entry = {"session": step.scope.get("session_id"), "scope": step.scope, "line": step.number}
                self.open[move.subject] = entry | {"later": None, "history": history}

    def _hear(self, step):
        session, thread = step.scope.get("session_id"), step.scope.get("thread_id")
        if step.type == "snapshot.repaired":
            for key in [key for key, entry in self.open.items() if session in (None, entry["session"])]:
                del self.open[key]
                self.repaired += 1
            return
        for key, entry in self.open.items():
            if thread == key or (thread is None and session == key):
                entry["later"] = step.number


@rule(
    "TRM025",
    "failed-rollback-not-repaired",
    clauses={"agent-runtime": "HIST-16"},
    on=(END,),
    needs=(Failures,),
)
def check(step, world, context):
    failures = world.ledger(Failures)
    if failures.repaired:
        yield seen()
    for key, entry in failures.open.items():
        # A repair that was lost stood in the stream of the rollback, below it.
        if entry["later"] is not None and (world.lost(entry["scope"]) or 0) <= entry["line"]:
            yield Finding(
                entry["line"],
                "a snapshot.repaired after a rollback that failed",
                "the thread goes on without one",
                entity=("rollback", key),
                state="failed",
                witness=(*entry["history"], entry["later"]),
            )
