"""A run committed while a tool call of its stream had no result.

Why: the thread then holds a question without an answer, and most models refuse to continue from there.
Trips: tool-call call-1, then a committed record.  Near miss: tool-call call-1, then a cancelled record.
Fix: Wait for the result, or append one with isError before the run is finalized.
"""

from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen


@rule("ATH010", "call-without-result", clauses={"agent-threads": "AT-35"}, on="record:run", needs=(Runs,))
def check(step, world, context):
    run = word(step.line, "runId")
    stream = world.ledger(Runs).reducer(str(run))
    if stream is None or not any(move.target == "committed" and move.subject == run for move in step.moves):
        return
    yield seen()
    if stream.pending and world.unproved({"stream_id": f"run:{run}"}) is None:
        lines = world.ledger(Runs).lines.get(f"run:{run}", ())
        actual = f"{len(stream.pending)} calls without a result"
        more = {"entity": ("run", run), "witness": lines, "key": "pending"}
        yield finding(step, "a result for every call", actual, pointer="/status", **more)
