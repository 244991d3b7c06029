"""A served run view says something else than the lines before it.

Why: people decide on what the view shows; a view that is ahead of the log, or explains what nobody explained, misleads.
Trips: a view that says COMPLETED while the run is paused.  Near miss: a view that gives its status as unknown.
Fix: Build the view from the log and the record, and give what neither tells as unknown.
"""

from validator.protocol.honest import WORDS, is_honest
from validator.replay.readmodels.runagents import RunViews
from validator.rules import finding, rule, seen
from validator.rules.runagents._exports import Exported

CLAUSES = ("RA-140", "RA-141", "RA-142")


@rule("RAG025", "run-view-differs", clauses={"runagents": CLAUSES}, on="record:snapshot", needs=(RunViews, Exported))
def check(step, world, context):
    view = step.line.get("snapshot")
    if step.type != "run_view" or not isinstance(view, dict) or world.state("run", view.get("run_id")) is None:
        return
    subject = world.subjects("run")[view["run_id"]]
    own = world.ledger(RunViews).build(view["run_id"])
    if world.unproved_since is not None or _is_older(step, view, own):
        return
    more = {"entity": ("run", subject.key), "state": subject.state}
    yield seen("RA-141")
    if view.get("status") != own["status"] and view.get("status") not in WORDS:
        more |= {"witness": tuple(subject.history), "key": f"{own['status']} shown as {view.get('status')}"}
        yield finding(step, own["status"], str(view.get("status")), pointer="/snapshot/status", clause="RA-141", **more)
        return
    if is_honest(own["reason"]):
        yield seen("RA-142")
        if isinstance(view.get("reason"), str):
            more |= {"witness": tuple(subject.history), "key": "reason"}
            yield finding(step, "unknown", "a reason", pointer="/snapshot/reason", clause="RA-142", **more)
    yield from _history(step, world, view, own, more)


def _is_older(step, view, own):
    """The view says that it reflects less than the log so far."""
    claimed, last = step.line.get("sequence"), own["last_event"]
    if not isinstance(claimed, int):
        shown = view.get("last_event")
        claimed = shown.get("seq") if isinstance(shown, dict) else None
    return isinstance(claimed, int) and last is not None and claimed < last["seq"]


def _history(step, world, view, own, more):
    shown = view.get("events")
    if not isinstance(shown, list) or not own["events"] or own["events"][0]["seq"] > 1:
        return
    yield seen("RA-140")
    names = [entry.get("event_id") for entry in shown if isinstance(entry, dict)]
    lost = [entry for entry in own["events"] if entry["event_id"] not in names]
    if lost:
        line = world.ledger(Exported).events[view["run_id"]][lost[0]["event_id"]][1]
        lines = (line, *world.subjects("run")[view["run_id"]].history)
        more = {**more, "witness": lines, "key": "events"}
        actual = f"{len(lost)} events are missing"
        yield finding(step, "the event history", actual, pointer="/snapshot/events", clause="RA-140", **more)
