"""A served run view says something else than the lines before it.

Why: people decide on what the view shows; a view that is ahead of the log, or explains what nobody explained, misleads.
Trips: a view that says COMPLETED while the run is paused.  Near miss: a view that gives its status as unknown.
Fix: Build the view from the log and the record, and give what neither tells as unknown.
"""

from validator.protocol.honest import WORDS, is_honest
from validator.replay.readmodels.runagents import RunViews
from validator.replay.readmodels.words import number, word
from validator.rules import finding, rule, seen
from validator.rules.runagents._exports import Exported
from validator.rules.snapshot._views import Views

CLAUSES = ("RA-140", "RA-141", "RA-142")


@rule("RAG025", "run-view-differs", clauses={"runagents": CLAUSES}, on="record:snapshot", needs=(Views, Exported))
def check(step, world, context):
    view = step.line.get("snapshot")
    if step.type != "run_view" or not isinstance(view, dict) or world.state("run", word(view, "run_id")) is None:
        return
    subject = world.subjects("run")[view["run_id"]]
    if world.unproved(step) is not None or world.unproved(subject) is not None:
        return
    own = world.ledger(Views).built(RunViews).build(subject.key)
    if _is_older(step, view, own):
        return
    more = {"entity": ("run", subject.key), "state": subject.state}
    yield seen("RA-141")
    if word(view, "status") not in {own["status"], None, *WORDS}:
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
    claimed, last = number(step.line, "sequence"), number(own["last_event"], "seq")
    if claimed is None:
        claimed = number(view.get("last_event"), "seq")
    return claimed is not None and last is not None and claimed < last


def _history(step, world, view, own, more):
    shown = view.get("events")
    if not isinstance(shown, list) or not own["events"] or (number(own["events"][0], "seq") or 0) > 1:
        return
    yield seen("RA-140")
    entries, names = own["events"], {word(entry, "event_id") for entry in shown} - {None}
    lost = len(entries) - entries.times(None) - sum(map(entries.times, names))
    if lost:
        more = {**more, "witness": _witness(world, view["run_id"], entries, names), "key": "events"}
        actual = f"{lost} events are missing"
        yield finding(step, "the event history", actual, pointer="/snapshot/events", clause="RA-140", **more)


def _witness(world, run, entries, names):
    """The first event that is missing, and what moved the run."""
    lost = next(entry["event_id"] for entry in entries if word(entry, "event_id") not in {*names, None})
    yield world.ledger(Exported).events[run][lost][1]
    yield from world.subjects("run")[run].history
