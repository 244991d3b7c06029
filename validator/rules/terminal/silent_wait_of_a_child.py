"""A child waited for an answer, and its parent was never told that it is blocked.

Why: a parent that only sees silence cannot help.
Trips: an action of a running child is asked and answered.  Near miss: subagent.status blocked stands between.
Fix: Tell the child as blocked while it waits, and as running again when it goes on.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import lines


class Waits:
    """Children with a pending action, and whether they were told as blocked since."""

    hears = ("move:action", "move:subagent")

    def __init__(self, world):
        self._world = world
        self.open = {}
        self.done = None

    def apply(self, step):
        self.done = None
        for move in step.moves:
            if move.machine == "action":
                self._action(step, move)
            elif move.machine == "subagent" and move.target != "running":
                for entry in self.open.values():
                    if entry["child"] == move.subject:
                        entry["told"] = True

    def _action(self, step, move):
        child = self._world.subjects("action")[move.subject].scope.get("subagent_id")
        subject = self._world.subjects("subagent").get(child or "")
        if move.target == "pending" and move.source == "none" and subject is not None:
            told = subject.state != "running"
            self.open[move.subject] = {"child": child, "line": step.number, "told": told}
        elif move.source == "pending" and move.target != "pending":
            self.done = self.open.pop(move.subject, None)


@rule(
    "TRM031",
    "silent-wait-of-a-child",
    clauses={"agent-runtime": "SUB-15"},
    on="action.resolved",
    needs=(Waits,),
)
def check(step, world, context):
    done = world.ledger(Waits).done
    if done is None or world.unproved(step) is not None:
        return
    yield seen()
    if not done["told"]:
        child = world.subjects("subagent")[done["child"]]
        yield finding(
            step,
            "a subagent.status with blocked while the child waits",
            f"the child stayed {child.state}",
            entity=("subagent", child.key),
            state=child.state,
            witness=(*lines(child), done["line"]),
        )
