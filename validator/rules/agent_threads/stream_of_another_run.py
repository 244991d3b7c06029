"""A run record names a stream that is not called after the run.

Why: an event carries no id but its stream's; a stream with another name leaves its run without events.
Trips: a record whose streamId holds the id of another run.  Near miss: a record whose streamId is run: and its own id.
Fix: Name the stream of a run `run:` and the run's id; a regenerated answer gets a stream of its own.
"""

from validator.rules import finding, rule, seen


@rule("ATH008", "stream-of-another-run", clauses={"agent-threads": ("AT-12", "AT-13")}, on="record:run")
def check(step, world, context):
    run, stream = step.line.get("runId"), step.line.get("streamId")
    if not isinstance(stream, str) or not isinstance(run, str):
        return
    other = stream.removeprefix("run:")
    runs = world.subjects("run")
    shared = other != run and other in runs
    clause = "AT-13" if shared else "AT-12"
    if stream == f"run:{run}":
        yield seen("AT-12", *(["AT-13"] if len(runs) > 1 else []))  # with one run alone, no stream is another's
        return
    witness = tuple(runs[other].history[:1]) if shared else ()
    more = {"pointer": "/streamId", "clause": clause, "entity": ("run", run), "witness": witness, "key": clause}
    yield finding(step, "the stream called after the run", "another stream", **more)
