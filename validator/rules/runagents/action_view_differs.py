"""A served action view says something else than the lines before it.

Why: the view is the auditor's way from a call to its decision; a wrong word or id there misleads the audit.
Trips: a view that says BLOCKED for an action that was approved.
Near miss: a view that gives payload_match as unknown when only one hash was given.
Fix: Build the view from the events and records of the action, and give what none of them tells as unknown.
"""

from validator.protocol.honest import WORDS, is_honest
from validator.replay.readmodels.runagents import ActionViews
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.snapshot._views import Views

LINKS = ("run_id", "request_id", "required_event_id", "decided_event_id", "retry_event_id")
CLAUSES = ("RA-90", "RA-143", "RA-145", "RA-146")


@rule("RAG026", "action-view-differs", clauses={"runagents": CLAUSES}, on="record:snapshot", needs=(Views,))
def check(step, world, context):
    view = step.line.get("snapshot")
    if step.type != "action_view" or not isinstance(view, dict):
        return
    subject = world.subjects("blocked_action").get(word(view, "action_id") or "")
    if subject is None or world.unproved(step) is not None or world.unproved(subject) is not None:
        return
    views = world.ledger(Views).built(ActionViews)
    own = views.build(subject.key)
    for clause, name in _wrong(view, own):
        yield seen(clause)
        if name:
            yield finding(
                step,
                _word(own[name]),
                _word(view.get(name)),
                pointer=f"/snapshot/{name}",
                clause=clause,
                entity=("blocked_action", subject.key),
                state=subject.state,
                witness=views.lines(subject.key),
                key=name,
            )


def _wrong(view, own):
    """Each clause with the field that breaks it, or with nothing when all is well."""
    yield "RA-145", "status" if word(view, "status") not in {own["status"], None, *WORDS} else None
    for name in LINKS:
        shown, known = view.get(name), own[name]
        differs = isinstance(known, str) and not is_honest(shown) and shown != known
        yield "RA-143", name if differs else None
    shown, known = view.get("payload_match"), own["payload_match"]
    if is_honest(known):
        yield "RA-146", "payload_match" if isinstance(shown, bool) else None
    elif known:
        yield "RA-90", "payload_match" if shown is False else None
    else:
        yield "RA-146", "payload_match" if shown is True else None


def _word(value):
    if is_honest(value):
        return value["honest"]
    return "nothing" if value is None else str(value)
