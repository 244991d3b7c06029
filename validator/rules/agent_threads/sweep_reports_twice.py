"""A sweep over stale runs reports one run twice.

Why: a run that is both closed and not closed is counted by whoever reads the list first.
Trips: a result that lists a run under succeeded and under failed.
Near miss: a result that lists two runs, one under each.
Fix: Report every run the sweep tried exactly once.
"""

from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import entries, served


@rule("ATH022", "sweep-reports-twice", clauses={"agent-threads": "AT-86"}, on="record:snapshot")
def check(step, world, context):
    result = served(step, "recover_all_result")
    if result is None:
        return
    yield seen()
    names = set()
    for side in ("succeeded", "failed"):
        for at, entry in enumerate(entries(result.get(side))):
            name = word(entry, "runId")
            if name in names:
                more = {"pointer": f"/snapshot/{side}/{at}", "entity": ("run", str(name)), "key": "twice"}
                yield finding(step, "each run once", "a run that is listed already", **more)
            names.add(name)
