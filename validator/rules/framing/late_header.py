"""A header is not the first line of its capture.

Why: what a header says about protocol, profile and completeness comes too late for the lines above it.
Trips: an event, then a header.  Near miss: a header, then an event.
Fix: Write the header first and once; do not join captures that each have one.
"""

from validator.rules import finding, rule, seen
from validator.rules.framing._problems import cites


@rule("FRM013", "late-header", clauses=cites("CAP-14"), on="record:header")
def check(step, world, context):
    if step.number == 1:
        yield seen()
    else:
        yield finding(step, "a header on the first line only", "a header further down", witness=(1,), key="late")
