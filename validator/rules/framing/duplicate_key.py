"""An object has the same key twice.

Why: readers disagree about which of the two counts, so one line tells two stories.
Trips: an event with two keys x_note.  Near miss: one key of that name in each of two objects.
Fix: Build objects from maps, and merge fields before writing.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM007", "duplicate-key", clauses=cites("CAP-7"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "duplicate-key", "each key once", "a key that occurs twice")
