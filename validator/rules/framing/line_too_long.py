"""A line is longer than the judge reads.

Why: a reader has to hold a line whole; one that has no room for it loses it.
Trips: an event that carries the output it should refer to.  Near miss: the same event with a reference.
Fix: Keep large output behind a reference and carry a preview; --max-line-bytes lets the judge read more.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM012", "line-too-long", clauses=cites("CAP-12"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "line-too-long", "a line within the judge's limit", "a longer line")
