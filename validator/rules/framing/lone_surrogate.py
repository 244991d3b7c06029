"""A string holds half a surrogate pair.

Why: the text cannot be encoded again, so the line cannot be stored or forwarded as it is.
Trips: an escape for the first half of a pair alone.  Near miss: escapes for both halves.
Fix: Cut text between characters, not between code units.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM010", "lone-surrogate", clauses=cites("CAP-10"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "lone-surrogate", "whole characters", "half a surrogate pair")
