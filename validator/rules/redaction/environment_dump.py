"""Environment variables stand in an event by value.

Why: an environment holds the keys of whatever the machine may reach, and nobody reviews it variable by variable.
Trips: a call whose arguments hold a map of variables.  Near miss: a reference to a filtered set.
Fix: Keep a filtered set behind a reference, and refer to it.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, leakless

CLAUSES = {"agent-runtime": "RED-13", "agenthub": "AH-130", "runagents": "RA-131", "agent-threads": "AT-111"}


@rule("RED008", "environment-dump", clauses=CLAUSES, on=TOLD, needs=(Leaks,), quiet=leakless)
def check(step, world, context):
    survey = world.ledger(Leaks).of(step, context)
    if survey.places:
        yield seen()
    for leak in survey.leaks:
        if leak.kind == "environment":
            yield finding(step, "a reference to a filtered set", leak.text, pointer=leak.pointer, key=leak.row)
