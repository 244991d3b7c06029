"""A served run view says something else than the records and the stream before it.

Why: the view is ours to trust only if it repeats what was stored and admits what was not.
Trips: a view that says committed for a run without a record.  Near miss: a view that says unknown for it.
Fix: Take the status from the record alone, and give what no record told as unknown.
"""

from validator.protocol.honest import WORDS, is_honest
from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import number, word
from validator.rules import finding, rule, seen

CLAUSES = ("AT-1", "AT-2", "AT-107", "AT-108", "AT-117")


@rule("ATH021", "run-view-differs", clauses={"agent-threads": CLAUSES}, on="record:snapshot", needs=(Runs,))
def check(step, world, context):
    view = step.line.get("snapshot")
    if step.type != "run_view" or not isinstance(view, dict) or world.unproved(step) is not None:
        return
    run = word(view, "runId")
    subject = world.subjects("run").get(run or "")
    more = {"entity": ("run", str(run)), "witness": tuple(subject.history) if subject else ()}
    if subject is None:
        yield from _without_record(step, view, world, more)
        return
    yield seen("AT-1")
    status = word(view, "status")
    if status not in {subject.state, None, *WORDS}:
        more |= {"pointer": "/snapshot/status", "clause": "AT-1", "state": subject.state, "key": "status"}
        yield finding(step, subject.state, str(status), **more)
        return
    own, shown = world.ledger(Runs).run_view(run)["supersededBy"], view.get("supersededBy")
    yield seen("AT-107")
    if not is_honest(own) and not is_honest(shown) and own != shown:
        more |= {"pointer": "/snapshot/supersededBy", "clause": "AT-107", "state": subject.state, "key": "successor"}
        yield finding(step, "the run whose commit superseded it" if own else "null", "another value", **more)
    yield from _length(step, view, world.ledger(Runs), run, subject)


def _length(step, view, threads, run, subject):
    """Where no event of the stream was captured its length is unknown; that it is empty, messages disprove."""
    record = threads.record(run)
    count = record.number("messageCount") if record else None
    if threads.reducer(run) is None and count and number(view, "lastSeq") is not None:
        yield seen("AT-117")
        if view["lastSeq"] == 0:
            more = {"pointer": "/snapshot/lastSeq", "clause": "AT-117", "state": subject.state, "key": "length"}
            actual = "an empty stream, of a run with messages"
            witness = tuple(subject.history)
            yield finding(step, "the last sequence, or unknown", actual, entity=("run", run), witness=witness, **more)


def _without_record(step, view, world, more):
    """Judged only where the stream is in the capture: the ledger may know a run that the capture does not."""
    if world.ledger(Runs).reducer(str(view.get("runId"))) is None:
        return
    yield seen("AT-2", "AT-108")
    if word(view, "status") not in {None, *WORDS}:
        lines = tuple(world.ledger(Runs).lines.get(f"run:{view.get('runId')}", ())[:1])
        more |= {"pointer": "/snapshot/status", "clause": "AT-2", "witness": lines, "key": "no record"}
        yield finding(step, "unknown", str(view.get("status")), **more)
