"""A line is JSON and no object.

Why: a bare value or a list has no type and no id, so it is neither an event nor a record.
Trips: a list of two events on one line.  Near miss: the two events on a line each.
Fix: Write one object per line; unpack lists.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM006", "not-an-object", clauses=cites("CAP-6", "CONF-16"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "not-an-object", "a JSON object", "another JSON value")
