"""A timestamp is not in UTC with milliseconds.

Why: timelines of one run are compared across Desktop, Web and Edge; an offset or a missing fraction makes them look
out of order.
Trips: an event at 11:00:01+02:00.  Near miss: the same instant as 09:00:01.000Z.
Fix: Write the time stamp in UTC, ending in Z, with exactly three digits after the second.
"""

from validator.protocol.regex import compiled
from validator.replay.faded import Lines
from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import entity

_FORM = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"


class Coarse:
    """The first line of each run with a timestamp of another form: one finding for a run is enough."""

    forgets = ("first",)

    def __init__(self, world):
        self.first = Lines()

    def apply(self, step):
        timestamp = step.line.get("timestamp")
        if step.kind == "event" and isinstance(timestamp, str) and not compiled(_FORM).fullmatch(timestamp):
            self.first.setdefault(step.scope.get("run_id") or "", step.number)


@rule("AHB001", "timestamp-form", clauses={"agenthub": "AH-6"}, on="*", needs=(Coarse,))
def check(step, world, context):
    # A timestamp that is no instant at all is the schema's.
    if "timestamp" not in step.line or any(error.pointer == "/timestamp" for error in context.errors):
        return
    yield seen()
    if world.ledger(Coarse).first.get(step.scope.get("run_id")) == step.number:
        yield finding(step, "UTC with milliseconds", "another form", pointer="/timestamp", entity=entity(step))
