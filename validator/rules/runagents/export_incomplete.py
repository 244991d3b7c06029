"""An audit export leaves out an event or an action of its run, or has its log out of order.

Why: an export with holes proves nothing: what is missing may be exactly the approval.
Trips: a capture with three events of a run, then an export of the run with two of them.
Near miss: an export that holds every event and action so far; one that lists no actions at all.
Fix: Export the whole log in the order of seq, and every blocked action of the run.
"""

from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.runagents._exports import Exported, entries, export_of


@rule("RAG013", "export-incomplete", clauses={"runagents": "RA-120"}, on="record:snapshot", needs=(Exported,))
def check(step, world, context):
    export = export_of(step)
    if export is None:
        return
    yield seen()
    run = export["run"].get("id")
    ledger = world.ledger(Exported)
    held = {word(event, "event_id") for _, event in entries(export, "events")}
    named = {word(action, "action_id") for _, action in entries(export, "actions")}
    logged, known = ledger.events.get(run, {}), ledger.actions.get(run, {}) if "actions" in export else {}
    where = {"entity": ("run", str(run))}
    if lost := _absent(logged, held):
        missing = f"{lost} of its events are missing"
        _, line = next(told for name, told in logged.items() if name not in held)
        more = {"pointer": "/snapshot/events", "witness": (line,), "key": "events"}
        yield finding(step, "the whole log", missing, **more, **where)
    if gone := _absent(known, named):
        missing = f"{gone} of its actions are missing"
        line = next(line for name, line in known.items() if name not in named)
        more = {"pointer": "/snapshot/actions", "witness": (line,), "key": "actions"}
        yield finding(step, "every blocked action", missing, **more, **where)
    yield from _order(step, export, where)


def _absent(known, shown):
    """How many entries are not shown."""
    return len(known) - sum(name in known for name in shown)


def _order(step, export, where):
    last = None
    for at, event in entries(export, "events"):
        sequence = event.get("seq")
        if isinstance(sequence, int) and last is not None and sequence <= last:
            place = f"/snapshot/events/{at}/seq"
            yield finding(step, "the order of seq", "an event out of order", pointer=place, key="order", **where)
            return
        last = sequence if isinstance(sequence, int) else last
