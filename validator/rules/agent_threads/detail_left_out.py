"""A record or event leaves out a detail that readers look for.

Why: what is left out has to be derived or guessed.
Trips: an error event without a message.  Near miss: an error event whose message is honestly unknown.
Fix: Fill the field the pointer names, or say honestly that its value is unknown.
"""

from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import payload

ON = ("error", "record:run")


@rule("ATH015", "detail-left-out", clauses={"agent-threads": ("AT-30", "AT-47")}, on=ON)
def check(step, world, context):
    if step.kind == "run":
        clause, place, given = "AT-47", "/streamId", "streamId" in step.line
    else:
        clause, place, given = "AT-30", "/event/payload/message", "message" in payload(step)
    yield seen(clause)
    name = place.rsplit("/", 1)[1]
    if not given:
        yield finding(step, name, "nothing", pointer=place, clause=clause, key=name)
