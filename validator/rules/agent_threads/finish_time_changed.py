"""The finishedAt of a run changed, and the run was not superseded by that change; or it went back.

Why: finishedAt orders answers; one that drifts when a record is read again orders nothing.
Trips: two records that say failed, with different finishedAt.
Near miss: a superseded record whose finishedAt is the time of the superseding commit.
Fix: Set finishedAt when the run ends, and once more only when it is superseded.
"""

from validator.protocol.formats import parse_date_time
from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen


@rule("ATH006", "finish-time-changed", clauses={"agent-threads": "AT-49"}, on="record:run", needs=(Runs,))
def check(step, world, context):
    run = word(step.line, "runId")
    before, line = world.ledger(Runs).before.get(run, ({}, 0))
    then, now = _time(before), _time(step.line)
    if then is None or now is None:
        return
    yield seen()
    superseded = (before.get("status"), step.line.get("status")) == ("committed", "superseded")
    if now == then or (superseded and now > then):
        return
    expected = "a time that is not earlier" if superseded else "the finishedAt of the record before"
    more = {"pointer": "/finishedAt", "entity": ("run", run), "witness": (line,)}
    yield finding(step, expected, "another finishedAt", key="back" if superseded else "changed", **more)


def _time(record):
    value = record.get("finishedAt")
    return parse_date_time(value) if isinstance(value, str) else None
