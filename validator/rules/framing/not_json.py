"""A line in the middle of the capture is not JSON.

Why: what the line said is lost, and with it the proof of whatever was open.
Trips: half an event, then whole ones.  Near miss: whole events, then half of one where the capture was cut.
Fix: Write each object whole and on one line; let only one writer append at a time.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM005", "not-json", clauses=cites("CAP-5", "CONF-16"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "not-json", "one JSON text on the line", "a line that does not parse")
