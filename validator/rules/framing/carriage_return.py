"""Lines end with a carriage return before the line feed.

Why: a reader that splits at line feeds keeps the carriage return as part of the line.
Trips: a capture with the line ends of Windows; told once.  Near miss: an escaped carriage return in a string.
Fix: Open the file for writing without translation of line ends.
"""

from validator.rules import LINE, rule
from validator.rules.framing._problems import Told, cites, clean, look


@rule("FRM003", "carriage-return", clauses=cites("CAP-3"), on=LINE, needs=(Told,), quiet=clean)
def check(step, world, context):
    found = any(problem.name == "carriage-return" for problem in context.line.problems)
    if not found or world.ledger(Told).first("carriage-return"):
        return look(step, context, "carriage-return", "a line feed alone", "a carriage return before it")
    return ()
