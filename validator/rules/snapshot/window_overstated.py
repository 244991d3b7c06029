"""A snapshot of a window claims more than was loaded, or denies what it leaves out.

Why: a consumer that is told it has everything never asks for the rest, and one that is shown too much trusts old facts.
Trips: a window was loaded from sequence 5, and the session_snapshot lists a turn that was submitted before it.
Near miss: the session_snapshot lists the newest turns alone and says that the history is truncated.
Fix: List what lies in the window, and set history_truncated and history_cursor when there is older history.
"""

from validator.rules import rule, seen
from validator.rules.snapshot._owners import NEEDS, WAKES, WINDOW, compared, fault, owned


@rule("SNP015", "window-overstated", clauses={"agent-runtime": "RM-20"}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        document = found.claim.document
        if found.claim.model != "session_snapshot" or not ({"recent_turns", "history_truncated"} & document.keys()):
            continue
        yield seen()
        if entries := owned(found, WINDOW):
            yield fault(step, world, found, entries, "RM-20")
