"""A turn was stopped, the thread went on, and a call of the turn never ended.

Why: a call without an end looks as if it were still running, for good.
Trips: turn.failed over an open call, then the next turn starts.  Near miss: tool.failed follows before the next turn.
Fix: End every call of an interrupted turn by a tool.failed of its own.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.terminal._calm import nothing_left
from validator.rules.terminal._work import OpenWork, ends, lines


class Orphans:
    """Open calls of turns that ended badly, by thread, and those that the next turn of the thread found still open."""

    hears = ("move:turn", "move:tool_call", "turn.started")
    forgets = ("waiting", "_threads")
    heeds_last = False

    def __init__(self, world):
        self._world = world
        self.waiting = {}
        self._threads = {}
        """Call to the thread under which it waits."""
        self.left = {}

    def apply(self, step):
        for move in ends(self._world, step, "turn"):
            turn = self._world.subjects("turn")[move.subject]
            thread = turn.scope.get("thread_id")
            if move.target != "completed" and thread is not None:
                for call in self._world.ledger(OpenWork).of("tool_call", "turn_id", move.subject):
                    self.waiting.setdefault(thread, {})[call.key] = (step.number, turn)
                    self._threads[call.key] = thread
        if not self.waiting and not self.left:
            return
        for move in ends(self._world, step, "tool_call"):
            self.left.pop(move.subject, None)
            self.waiting.get(self._threads.pop(move.subject, None), {}).pop(move.subject, None)
        if step.type == "turn.started":
            for key, entry in self.waiting.pop(step.scope.get("thread_id"), {}).items():
                self.left[key] = (*entry, step.number)


@rule(
    "TRM026",
    "call-never-ended",
    clauses={"agent-runtime": "TOOL-18"},
    on=("tool.result", "tool.failed", END),
    needs=(OpenWork, Orphans),
    quiet=nothing_left,
)
def check(step, world, context):
    orphans = world.ledger(Orphans)
    if step is not None:
        if ends(world, step, "tool_call"):
            yield seen()
        return
    for key, (line, turn, later) in orphans.left.items():
        call = world.subjects("tool_call")[key]
        if call.doubted or not world.protocol.machines["tool_call"].is_open(call.state):
            continue
        yield Finding(
            line,
            "a tool.result or tool.failed for every call of the turn",
            f"a call stays {call.state}",
            entity=("tool_call", key),
            state=call.state,
            witness=(*lines(turn, call), later),
        )
