"""The identity of an event is used for another event.

Why: a consumer takes the second for a repetition and drops it, and audit cannot name either of them.
Trips: two events with one event_id and other titles.  Near miss: one event delivered twice, equal field by field.
Fix: Give every event an id of its own, and send exactly the stored bytes when an event is sent again.
"""

from validator.rules import finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step

CLAUSES = {
    "agent-runtime": ("ENV-3", "ORD-32"),
    "agenthub": ("AH-1",),
    "runagents": ("RA-11",),
    "agent-threads": ("AT-26",),
}


@rule("ORD003", "event-id-reused", clauses=CLAUSES, on=("*", "repeat"), needs=(Arrivals,), quiet=in_step)
def check(step, world, context):
    first, restart = step.repeats or step.reused, world.ledger(Arrivals).restart
    general, *after_restart = CLAUSES[world.protocol.name]
    across = restart is not None and first is not None and first < restart and after_restart
    clause = after_restart[0] if across else general
    if step.reused is None:
        if step.repeats is not None or world.protocol.lens.get(step.line, "event_id") is not None:
            yield seen(clause)
        return
    fields = world.protocol.data["fields"]
    yield finding(
        step,
        "the event that has this identity, unchanged",
        "another event with the same identity",
        pointer="/" + fields.get("event_id", fields["sequence"]),
        clause=clause,
        witness=(step.reused, restart) if across else (step.reused,),
        key="reused",
    )
