"""A capture calls itself complete and ends with open work.

Why: either something is missing from the capture, or the runtime forgot it; a reader cannot tell which.
Trips: the header says complete and a task still runs.  Near miss: the header says prefix.
Fix: Record to the end, or say `completeness: prefix` in the header.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules._words import one


@rule("TRM027", "complete-capture-with-open-work", clauses={"agent-runtime": "DONE-36"}, on=("record:header", END))
def check(step, world, context):
    if step is not None:
        if step.line.get("completeness") in ("complete", "prefix"):
            yield seen()
        return
    if world.header.get("completeness") != "complete":
        return
    for subject in world.fold.open_work():
        if not subject.doubted:
            yield Finding(
                subject.history[-1],
                "no open work at the end of a complete capture",
                f"{one(subject.machine)} is {subject.state}",
                entity=(subject.machine, subject.key),
                state=subject.state,
                witness=tuple(subject.history),
                key=subject.machine,
            )
