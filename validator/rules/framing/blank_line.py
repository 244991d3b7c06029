"""A line holds nothing.

Why: a reader that parses every line fails on it, and nobody can tell whether something stood there.
Trips: an empty line between two events.  Near miss: events on consecutive lines.
Fix: Write one line feed after each object, and no more.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM004", "blank-line", clauses=cites("CAP-4"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "blank-line", "one JSON object", "a blank line")
