"""A line opens with a byte order mark.

Why: a reader that does not expect it finds three bytes that are no JSON, and loses the line.
Trips: a mark in front of the first event.  Near miss: the mark's character inside a string.
Fix: Write UTF-8 without a mark, and join files without one.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM002", "byte-order-mark", clauses=cites("CAP-2"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "byte-order-mark", "no byte order mark", "a byte order mark at the head of the line")
