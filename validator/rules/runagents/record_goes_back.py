"""A run record was last changed before it was created, or before an earlier record of the same run.

Why: updated_at tells a consumer which of two records is the newer one; if it runs backwards, old news wins.
Trips: a record with updated_at 10:05, then one of the same run with updated_at 10:04.
Near miss: the same record read twice, with the same updated_at.
Fix: Set updated_at from one clock each time the record changes, and export records in the order of their changes.
"""

from validator.protocol.formats import instant
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen


class Changes:
    """The latest change of each run's record before the present line."""

    forgets = ("before", "_latest")

    def __init__(self, world):
        self.before = {}
        self._latest = {}

    def apply(self, step):
        run, time = step.line.get("id"), instant(step.line.get("updated_at"))
        if step.kind != "run" or not isinstance(run, str) or time is None:
            return
        self.before[run] = self._latest.get(run)
        if self.before[run] is None or time >= self.before[run][0]:
            self._latest[run] = (time, step.number)


@rule("RAG002", "record-goes-back", clauses={"runagents": "RA-5"}, on="record:run", needs=(Changes,))
def check(step, world, context):
    run = word(step.line, "id")
    created, updated = instant(step.line.get("created_at")), instant(step.line.get("updated_at"))
    if updated is None or run is None:
        return
    yield seen()
    where = {"pointer": "/updated_at", "entity": ("run", run)}
    before = world.ledger(Changes).before.get(run)
    if created is not None and updated < created:
        yield finding(step, "a change after the creation", "a change before it", key="before creation", **where)
    elif before is not None and updated < before[0]:
        actual = "an earlier updated_at than the record before it"
        yield finding(step, "time that goes forward", actual, witness=(before[1],), key="backwards", **where)
