"""The time in a run's id is far from its createdAt.

Why: runs are sorted by id; ids made at another time tell a wrong story.
Trips: a run whose id holds a time an hour before createdAt.  Near miss: a run whose id is three seconds off.
Fix: Make the id when the run is created, from the same clock.
"""

from datetime import UTC, datetime, timedelta

from validator.protocol.formats import parse_date_time
from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen

DIGITS = {digit: value for value, digit in enumerate("0123456789ABCDEFGHJKMNPQRSTVWXYZ")}
TOLERANCE = timedelta(seconds=10)


@rule("ATH007", "ulid-time-differs", clauses={"agent-threads": "AT-14"}, on="record:run", needs=(Runs,))
def check(step, world, context):
    run, created = word(step.line, "runId"), step.line.get("createdAt")
    first = world.ledger(Runs).first.get(run, ({}, 0))[1] == step.number
    made, told = _time(run), parse_date_time(created) if isinstance(created, str) else None
    if not first or made is None or told is None:
        return
    yield seen()
    if abs(made - told) > TOLERANCE:
        more = {"pointer": "/runId", "entity": ("run", run), "key": "time"}
        yield finding(step, "an id made when the run was created", "an id of another time", **more)


def _time(ulid):
    """The instant in the first ten characters of a ULID."""
    if not isinstance(ulid, str) or len(ulid) != 26 or any(digit not in DIGITS for digit in ulid[:10]):
        return None
    milliseconds = 0
    for digit in ulid[:10]:
        milliseconds = milliseconds * 32 + DIGITS[digit]
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
