"""A run record names a blocked action although it waits for none, or does not name the one it waits for.

Why: the record is how a consumer finds the action to decide; a missing or leftover id sends operators to nothing.
Trips: a record PAUSED_APPROVAL without blocked_action_id.  Near miss: a record PAUSED without blocked_action_id.
Fix: Set blocked_action_id when the run becomes PAUSED_APPROVAL and clear it when the pause ends.
"""

from heapq import heappop, heappush

from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen

NAMES_NONE = ("RUNNING", "PAUSED_CONSENT", "COMPLETED", "FAILED")


class Blocked:
    """The actions that were blocked in each run, by the lines at which that was."""

    hears = ("APPROVAL_REQUIRED", "record:snapshot")
    forgets = ("_of",)

    def __init__(self, world):
        self._world = world
        self._of = {}
        self._filed = 0

    def apply(self, step):
        for move in step.moves:
            if move.machine == "blocked_action" and move.target == "blocked":
                action = self._world.subjects("blocked_action")[move.subject]
                if "run_id" in action.scope:
                    self._filed += 1
                    entry = (action.history[0], self._filed, action.key)
                    heappush(self._of.setdefault(action.scope["run_id"], []), entry)

    def first(self, run):
        """The action of a run that was blocked first and still is."""
        actions = self._of.get(run, [])
        while actions and self._world.state("blocked_action", actions[0][2]) != "blocked":
            heappop(actions)
        return self._world.subjects("blocked_action")[actions[0][2]] if actions else None


@rule(
    "RAG003",
    "pause-and-action-disagree",
    clauses={"runagents": ("RA-6", "RA-7")},
    on="record:run",
    needs=(Blocked,),
)
def check(step, world, context):
    status, named, run = word(step.line, "status"), step.line.get("blocked_action_id"), word(step.line, "id")
    where = {"pointer": "/blocked_action_id", "entity": ("run", str(run)), "state": world.state("run", run)}
    if status == "PAUSED_APPROVAL":
        yield seen("RA-6")
        if named is None:
            expected = "the action the run waits for"
            yield finding(step, expected, "no blocked_action_id", clause="RA-6", key="missing", **where)
        elif isinstance(named, str):
            yield from _another(step, world, run, named, where)
    elif status in NAMES_NONE:
        yield seen("RA-7")
        if named is not None:
            actual = f"a blocked action while {status}"
            yield finding(step, "no blocked_action_id", actual, clause="RA-7", key=str(status), **where)


def _another(step, world, run, named, where):
    """The record names an action, and the log says that another one of this run is blocked."""
    if run is None or world.state("blocked_action", named) == "blocked":
        return
    action = world.ledger(Blocked).first(run)
    if action is not None:
        more = {"clause": "RA-6", "witness": tuple(action.history), "key": "another", **where}
        yield finding(step, "the action that is blocked", "another action", **more)
