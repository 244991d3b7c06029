"""A line nests deeper than the judge reads.

Why: readers stop at some depth, and what they do then differs.
Trips: an event with a list 200 levels deep.  Near miss: an event with a list 100 levels deep.
Fix: Flatten the value, or keep it behind a reference; --max-depth lets the judge read more.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM011", "too-deep", clauses=cites("CAP-11"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "too-deep", "nesting within the judge's limit", "a line that nests deeper")
