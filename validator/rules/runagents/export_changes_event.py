"""An exported event differs from the same event in the log.

Why: two forms of one history let everybody choose the one they like.
Trips: an event, then an export that holds an event with the same id and another timestamp.
Near miss: an export that holds the event as it was logged, keys in another order.
Fix: Copy events into every form of the export unchanged.
"""

from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.runagents._exports import Exported, digest, entries, export_of


@rule("RAG014", "export-changes-event", clauses={"runagents": "RA-126"}, on="record:snapshot", needs=(Exported,))
def check(step, world, context):
    export = export_of(step)
    if export is None:
        return
    run = export["run"].get("id")
    logged = world.ledger(Exported).events.get(run, {})
    for at, event in entries(export, "events"):
        body, line = logged.get(word(event, "event_id"), (None, 0))
        if body is None:
            continue
        yield seen()
        if body != digest(event):
            place = f"/snapshot/events/{at}"
            more = {"entity": ("event", event["event_id"]), "witness": (line,), "key": str(event.get("type"))}
            yield finding(step, "the event as it was logged", "another body", pointer=place, **more)
