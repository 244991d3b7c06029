"""A child is spawned without a word about what it shares with its parent.

Why: two authors of one file who do not know of each other lose each other's work.
Trips: subagent.spawned without isolation.  Near miss: subagent.spawned that shares the workspace and says so.
Fix: State prompt, workspace, worktree, tools, permission and memory in isolation.
"""

from validator.rules import rule
from validator.rules.identity.child_without_thread import told


@rule("IDN008", "child-without-isolation", clauses={"agent-runtime": "SUB-12"}, on="subagent.spawned")
def check(step, world, context):
    yield from told(step, "isolation", "what the child shares with its parent")
