"""The thread of a child agent does not name the thread it was opened from.

Why: without it the thread stands beside the conversation that caused it, and nobody finds the way back.
Trips: subagent.spawned with child thread h2, then thread.started of h2 without a parent.
Near miss: the same with parent_thread_id.
Fix: Write parent_thread_id into thread.started when a thread is opened out of another.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules.terminal._details import carries
from validator.rules.terminal._work import told


class Opened:
    """Threads that were started, with and without a parent, and the children that have one."""

    hears = ("thread.started", "subagent.spawned")
    forgets = ("started", "of_child")

    def __init__(self, world: World):
        self.started: dict[str, tuple[int, bool]] = {}
        self.of_child: dict[str, int] = {}

    def apply(self, step: Step) -> None:
        if step.type == "thread.started" and "thread_id" in step.scope:
            self.started.setdefault(step.scope["thread_id"], (step.number, carries(step, "parent_thread_id")))
        elif step.type == "subagent.spawned" and isinstance(told(step, "child_thread_id"), str):
            self.of_child.setdefault(told(step, "child_thread_id"), step.number)


@rule(
    "IDN018",
    "thread-without-its-parent",
    clauses={"agent-runtime": "THR-14"},
    on=("thread.started", "subagent.spawned"),
    needs=(Opened,),
)
def check(step, world, context):
    opened = world.ledger(Opened)
    thread = step.scope.get("thread_id") if step.type == "thread.started" else told(step, "child_thread_id")
    if not isinstance(thread, str) or thread not in opened.started or thread not in opened.of_child or step.refusals:
        return
    line, named = opened.started[thread]
    yield seen()
    if not named:
        yield finding(
            step,
            "parent_thread_id in thread.started",
            "none",
            entity=("thread", thread),
            witness=(line, opened.of_child[thread]),
            key="no parent",
        )
