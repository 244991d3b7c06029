"""A view of a run or action says something else than the lines before it.

Why: the view is what people and consoles read; what it adds or leaves standing is believed over the log.
Trips: a run was started at nine, and its view says ten.  Near miss: the view gives the time as unknown.
Fix: Build the view from events and records; null for what has not happened, an honest value for what is not known.
"""

from validator.protocol.honest import is_honest
from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.replay.readmodels.agent_runtime.records import shape_of
from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import number
from validator.rules import finding, rule, seen
from validator.rules.snapshot._compare import compare
from validator.rules.snapshot._views import Views

OWNED = {
    ("agenthub", "run_view"): ("stateLabel", "terminal"),
    ("agent-threads", "run_view"): ("status", "supersededBy"),
    ("runagents", "run_view"): ("status",),
    ("runagents", "action_view"): ("status", "payload_match"),
}
"""Fields that a rule of the dialect judges."""
LINKS = ("run_id", "request_id", "required_event_id", "decided_event_id", "retry_event_id")
TIMES = ("created_at", "updated_at", "ended_at")
"""What the record of a run tells; without one the server can know it better than the log."""
PLACES = ("lastSequence", "lastSeq")
CLAUSES = {"agenthub": ("AH-147", "AH-16"), "agent-threads": "AT-117", "runagents": "RA-147"}


class Reread:
    """Runs of which something was read again: an event delivered twice, or a consumer that came back."""

    hears = ("record:reconnect",)

    def __init__(self, world):
        self.reconnected = False
        self.repeated = False

    def apply(self, step):
        self.reconnected = self.reconnected or step.kind == "reconnect"


@rule("SNP024", "view-differs", clauses=CLAUSES, on=("record:snapshot", "repeat"), needs=(Views, Runs, Replay, Reread))
def check(step, world, context):
    reread = world.ledger(Reread)
    if step.repeats is not None:
        reread.repeated = True
        world.ledger(Replay).remember(None, step.number)
        return
    document = step.line.get("snapshot")
    if not isinstance(document, dict) or context.errors:
        return
    told = world.ledger(Views).told(step.type, document)
    if told is None or _is_older(step, document, told):
        return
    again = world.protocol.name == "agenthub" and (reread.repeated or reread.reconnected)
    clause = "AH-16" if again else _clause(world)
    yield seen(_clause(world), *(["AH-16"] if again else ()))
    entries = [
        entry
        for entry in _differences(world, step.type, told.view, document)
        if told.whole or (entry.kind == "dropped" and entry.entity)
    ]
    if entries:
        count = sum(entry.times for entry in entries)
        others = f", and {count - 1} more" if count > 1 else ""
        yield finding(
            step,
            entries[0].expected,
            entries[0].actual + others,
            pointer=f"/snapshot{entries[0].pointer}",
            clause=clause,
            entity=(told.kind, told.key),
            state=world.state(told.kind, told.key),
            witness=world.ledger(Replay).lines(None, step.number),
            key=f"{step.type} {entries[0].kind} {'/'.join(entries[0].names)}",
        )


def _clause(world):
    found = CLAUSES[world.protocol.name]
    return found if isinstance(found, str) else found[0]


def _is_older(step, document, told):
    """The view says that it reflects less than the lines before it."""
    claims = [number(step.line, "sequence"), *(number(document, name) for name in PLACES)]
    claims.append(number(document.get("last_event"), "seq"))
    return told.last is not None and any(claim is not None and claim < told.last for claim in claims)


def _differences(world, model, expected, document):
    shape = shape_of(world.protocol, model)
    name = world.protocol.name
    found = compare(expected, document, shape)
    if name != "agenthub" and any(_is_owned(name, model, expected, entry) for entry in found):
        return []  # a rule of the dialect reports the view as a whole
    return [entry for entry in found if not _is_left_out(name, model, expected, entry)]


def _is_owned(name, model, expected, entry):
    """A rule of the dialect judges the field."""
    top = entry.path[0]
    if name == "runagents" and top == "events" and entry.kind == "dropped":
        return True
    return top in OWNED[name, model] or (model == "action_view" and top in LINKS and isinstance(expected[top], str))


def _is_left_out(name, model, expected, entry):
    if name == "agenthub":
        return _is_owned(name, model, expected, entry)
    if name == "runagents" and is_honest(expected.get("conversation_id")) and entry.path[0] in TIMES:
        return True
    return _is_untold(expected, entry.path)


def _is_untold(expected, path):
    """True where the lines tell nothing; the server can know what the capture does not hold."""
    place = expected
    for step in path:
        if is_honest(place):
            return True
        if isinstance(place, list):
            place = place[int(step)] if int(step) < len(place) else None
        else:
            place = place.get(step) if isinstance(place, dict) else None
    return is_honest(place)
