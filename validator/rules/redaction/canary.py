"""A value that was declared as a canary stands in what the runtime wrote.

Why: the tester made the value up and planted it, so there is no doubt: what was to stay hidden came out.
Trips: a message that holds the canary in base64.  Near miss: a message that holds a value of the same shape.
Fix: Find the way from the place it was planted to this field, and redact there.
"""

from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, leakless

CLAUSES = {"agent-runtime": "RED-15", "agenthub": "AH-131", "runagents": "RA-131", "agent-threads": "AT-111"}


@rule("RED005", "canary", clauses=CLAUSES, on=TOLD, needs=(Leaks,), quiet=leakless)
def check(step, world, context):
    if not any(context.canaries):
        return
    survey = world.ledger(Leaks).of(step, context)
    yield seen()
    for leak in survey.leaks:
        if leak.kind == "canary":
            yield finding(step, "no canary", leak.text, pointer=leak.pointer, key=leak.what)
