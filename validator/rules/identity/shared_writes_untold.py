"""A child can write where its parent writes, and its isolation says nothing about files.

Why: two authors of one file who do not know of each other lose each other's work.
Trips: parent and child have a sandbox with one write root, and no isolation was told.
Near miss: the isolation says that the workspace is shared.
Fix: State in isolation whether workspace and worktree are shared, copied or separate.
"""

from validator.protocol.honest import is_honest, known
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import told

PARTS = ("workspace", "worktree")


class Writers:
    """Which threads can write to a place, and the children that were spawned with a thread of their own."""

    hears = ("subagent.spawned", "artifact.changed", "sandbox.applied")
    forgets = ("children", "_of", "_writes")

    def __init__(self, world: World):
        self.children: dict[str, tuple[str, str, int, object]] = {}
        """Child thread to subagent, parent thread, line and isolation."""
        self._of: dict[str, dict[str, None]] = {}
        """Parent thread to the threads of its children, and of those that were its children."""
        self._writes: dict[tuple[str, str], int] = {}
        """Place and thread to the line that first let it write there."""

    def apply(self, step: Step) -> None:
        if step.type == "subagent.spawned":
            child, parent = told(step, "child_thread_id"), told(step, "parent_thread_id") or step.scope.get("thread_id")
            if isinstance(child, str) and isinstance(parent, str):
                payload = step.line.get("payload") or {}
                entry = (step.scope.get("subagent_id", ""), parent, step.number, payload.get("isolation"))
                self.children[child] = entry
                self._of.setdefault(parent, {})[child] = None
        thread = step.scope.get("thread_id")
        for place in places(step) if thread else ():
            self._writes.setdefault((place, thread), step.number)

    def shared(self, step: Step, thread: str, other: str) -> int | None:
        """The line that let another thread write to a place of this event."""
        lines = (self._writes.get((place, other)) for place in places(step))
        return next((line for line in lines if line is not None), None)


def places(step: Step) -> list[str]:
    """Where an event shows that its thread can write."""
    if step.type == "artifact.changed":
        return [f"artifact {step.scope['artifact_id']}"] if "artifact_id" in step.scope else []
    roots = told(step, "write_roots") if step.type == "sandbox.applied" else None
    return [f"root {root}" for root in roots if isinstance(root, str)] if isinstance(roots, list) else []


@rule(
    "IDN017",
    "shared-writes-untold",
    clauses={"agent-runtime": "SUB-13"},
    on=("sandbox.applied", "artifact.changed"),
    needs=(Writers,),
    since=("subagent.spawned",),
)
def check(step, world, context):
    writers, thread = world.ledger(Writers), step.scope.get("thread_id", "")
    for child, (name, parent, line, isolation) in writers.children.items():
        if thread not in (child, parent):
            continue
        other = writers.shared(step, thread, parent if thread == child else child)
        if other is None:
            continue
        yield seen()
        stated = known(isolation) if isinstance(isolation, dict) else {}
        if not is_honest(isolation) and not any((stated or {}).get(part) is not None for part in PARTS):
            yield finding(
                step,
                "an isolation that says what is shared",
                "none about files",
                entity=("subagent", name),
                witness=(line, other),
                key="shared writes",
            )
