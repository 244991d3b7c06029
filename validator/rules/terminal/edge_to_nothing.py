"""A task graph has an edge whose other end was never told.

Why: a reader who follows the edge finds nothing, and cannot tell whether the work exists.
Trips: task.delegated to a job that no job.created tells.  Near miss: job.created comes after the edge.
Fix: Tell the receiver by its own first event; draw an edge before it is changed, and tell a task's child as delegated.
"""

from validator.rules import END, Finding, finding, rule, seen
from validator.rules.terminal._work import told, unsure


class Edges:
    """Delegations, and children that named a task as their parent."""

    hears = ("task.delegated", "subagent.spawned", "task.created", "task.dependency.updated")
    forgets_faded = ("delegated", "parents", "drawn")

    def __init__(self, world):
        self.delegated = {}
        self.parents = {}
        self.drawn = set()
        self.before = False

    def apply(self, step):
        task = step.scope.get("task_id")
        if step.type == "task.delegated" and task is not None:
            kind, target = told(step, "target_kind"), told(step, "target_id")
            if isinstance(kind, str) and isinstance(target, str):
                self.delegated.setdefault((kind, target), (step.number, task))
                self.drawn.add((task, target))
        elif step.type == "subagent.spawned" and "subagent_id" in step.scope:
            parent = told(step, "parent_task_id")
            if isinstance(parent, str):
                self.parents[step.scope["subagent_id"]] = (step.number, parent)
        elif step.type == "task.created" and task is not None and "parent_task_id" in step.scope:
            parent = step.scope["parent_task_id"]
            self.drawn |= {(parent, task), (task, parent)}
        elif step.type == "task.dependency.updated" and task is not None:
            edge = told(step, "relationship")
            target = edge.get("target_id") if isinstance(edge, dict) else None
            target = target if isinstance(target, str) else None
            self.before = (task, target) in self.drawn
            if isinstance(target, str):
                self.drawn.add((task, target))


@rule(
    "TRM029",
    "edge-to-nothing",
    clauses={"agent-runtime": ("ORC-2", "ORC-7", "SUB-17")},
    on=("task.dependency.updated", END),
    needs=(Edges,),
)
def check(step, world, context):
    edges = world.ledger(Edges)
    if unsure(world, step):
        return
    if step is not None:
        if told(step, "operation") in ("updated", "unlinked"):
            yield seen("ORC-7")
            if not edges.before:
                expected, actual = "an edge that was drawn before", f"an unknown edge is {told(step, 'operation')}"
                about = {"clause": "ORC-7", "pointer": "/payload/relationship", "key": str(told(step, "operation"))}
                yield finding(step, expected, actual, entity=("task", step.scope.get("task_id", "")), **about)
        return
    for (kind, target), (line, task) in edges.delegated.items():
        if kind not in ("task", "subagent", "job"):
            continue
        yield seen("ORC-2")
        if target not in world.subjects(kind):
            expected, actual = f"the {kind} told by its own first event", "it was never told"
            yield Finding(line, expected, actual, clause="ORC-2", pointer="/payload/target_id", entity=("task", task))
    for child, (line, _) in edges.parents.items():
        yield seen("SUB-17")
        if ("subagent", child) not in edges.delegated and world.unproved({"subagent_id": child}) is None:
            expected, actual = "a task.delegated for a child that a task hands work to", "none was told"
            about = {"clause": "SUB-17", "pointer": "/payload/parent_task_id"}
            yield Finding(line, expected, actual, entity=("subagent", child), key="child", **about)
