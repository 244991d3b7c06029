"""A command that does not fit its schema was not rejected.

Why: what a runtime made of a request that it could not read is a guess, and the caller is told that it was understood.
Trips: respond_action without a decision is answered accepted.  Near miss: it is answered rejected.
Fix: Check a request before acting on it, and answer rejected with an error that names the field.
"""

from validator.rules import finding, rule, seen
from validator.rules.command._commands import Commands
from validator.rules.governance._said import shown


@rule(
    "CMD020",
    "malformed-command-accepted",
    clauses={"agent-runtime": "CTL-54"},
    on="record:result",
    needs=(Commands,),
)
def check(step, world, context):
    sent = world.ledger(Commands).current
    if sent is None or sent.definition is None or sent.outcome in {None, "unavailable"}:
        return
    errors = world.protocol.store.errors(sent.definition.request, sent.request)
    if not errors:
        return
    yield seen()
    if sent.outcome != "rejected":
        yield finding(
            step,
            "rejected",
            f"{shown(sent.outcome)} although the request breaks {errors[0].keyword}",
            pointer="/result/outcome",
            entity=("command", sent.key),
            witness=(sent.line,),
            key=f"{sent.name} {errors[0].keyword}",
        )
