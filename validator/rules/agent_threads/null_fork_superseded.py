"""A run that forks from no message is told to be superseded.

Why: nothing replaces a run that starts the thread anew; an answer that is called replaced is left out of the thread.
Trips: a committed run whose fork is null, then its record with the status superseded.
Near miss: two runs whose forks are null, both committed.
Fix: Leave a run without a fork committed; look for siblings to supersede only at a fork that is a message.
"""

from validator.rules import finding, rule, seen


@rule("ATH025", "null-fork-superseded", clauses={"agent-threads": "AT-77"}, on="record:run")
def check(step, world, context):
    targets = {move.target for move in step.moves if move.source != move.target}
    if step.line.get("forkFromMessageId") or not targets & {"committed", "superseded"}:
        return
    yield seen()
    if "superseded" in targets:
        entity = ("run", step.line.get("runId"))
        yield finding(step, "committed for good", "superseded", pointer="/status", entity=entity, key="null fork")
