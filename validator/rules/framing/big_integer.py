"""An integer lies beyond 2^53.

Why: readers that keep numbers as doubles round it, and two values become one.
Trips: a vendor field of 2^53 + 1.  Near miss: a vendor field of 2^53.
Fix: Write large identifiers and counters as strings.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM009", "big-integer", clauses=cites("CAP-9"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "big-integer", "integers up to 2^53", "an integer beyond it")
