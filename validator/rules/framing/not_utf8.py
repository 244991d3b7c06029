"""A line is not UTF-8.

Why: bytes without a known encoding have no meaning; every reader that guesses reads another text.
Trips: a line with a Latin-1 byte.  Near miss: the same letter in UTF-8.
Fix: Encode the capture as UTF-8 when it is written.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import cites, clean, look


@rule("FRM001", "not-utf8", clauses=cites("CAP-1", "CONF-16"), on=LINE, quiet=clean)
def check(step, world, context):
    return look(step, context, "not-utf8", "UTF-8 text", "bytes that are not UTF-8")
