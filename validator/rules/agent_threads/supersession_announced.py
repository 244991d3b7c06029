"""An event on a stream announces that a run was superseded.

Why: supersession is the ledger's to tell; a stream that tells it makes readers of events believe they know the status.
Trips: an event of kind run-superseded.  Near miss: an event of kind acme-citation.
Fix: Leave it to the run record and the transcript.
"""

from validator.rules import finding, rule, seen


@rule("ATH023", "supersession-announced", clauses={"agent-threads": "AT-81"}, on="*")
def check(step, world, context):
    if step.type is None or step.type in world.protocol.events:
        return
    yield seen()
    if "supersede" in step.type.lower():
        yield finding(step, "nothing about supersession", "a kind that tells of it", pointer="/event/kind", key="kind")
