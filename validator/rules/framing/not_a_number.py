"""A number is NaN or infinite.

Why: JSON has no such number: a strict reader refuses the line, a lax one computes with it.
Trips: a vendor field that is NaN.  Near miss: the word NaN in a string.
Fix: Leave the value out, or say by an honest value why there is none.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM008", "not-a-number", clauses=cites("CAP-8"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "not-a-number", "a finite number", "NaN, an infinity, or more than a double holds")
