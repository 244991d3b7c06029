"""A record of a run contradicts an earlier one in a fact that never changes.

Why: thread, fork, stream and creation time place a run; a run that moves breaks every link to it.
Trips: a record with forkFromMessageId m1, then one of the same run with forkFromMessageId null.
Near miss: a record without streamId, then one with it.
Fix: Write these fields once, when the run begins, and messageCount once, when it commits.
"""

from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen

FIXED = {"threadId": "AT-11", "createdAt": "AT-18", "forkFromMessageId": "AT-18", "streamId": "AT-18"}


@rule(
    "ATH005",
    "record-facts-changed",
    clauses={"agent-threads": ("AT-11", "AT-18", "AT-53")},
    on="record:run",
    needs=(Runs,),
)
def check(step, world, context):
    run, records = word(step.line, "runId"), world.ledger(Runs)
    first, line = records.first.get(run, (step.line, step.number))
    if line == step.number:
        return
    for name, clause in FIXED.items():
        if name in first and name in step.line:
            yield seen(clause)
            if step.line[name] != first[name]:
                yield _changed(step, run, name, clause, line)
    committed, line = records.committed.get(run, (step.line, step.number))
    if line != step.number and word(step.line, "status") in {"committed", "superseded"}:
        yield seen("AT-53")
        if step.line.get("messageCount") != committed.get("messageCount"):
            yield _changed(step, run, "messageCount", "AT-53", line)


def _changed(step, run, name, clause, line):
    more = {"pointer": f"/{name}", "clause": clause, "entity": ("run", str(run)), "witness": (line,), "key": name}
    return finding(step, f"the {name} of an earlier record", f"another {name}", **more)
