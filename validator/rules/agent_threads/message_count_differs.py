"""The messageCount of a run is not the number of messages its stream reduces to.

Why: the two planes disagree about what was said; a reader that rebuilds the thread gets another one than the ledger.
Trips: a stream that reduces to two messages and a committed record with messageCount 1.
Near miss: a stream whose only text is empty, and messageCount 0.
Fix: Reduce the whole stream in the transaction that commits the run, and store that many messages.
"""

from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen


@rule("ATH004", "message-count-differs", clauses={"agent-threads": "AT-51"}, on="record:run", needs=(Runs,))
def check(step, world, context):
    run, count = word(step.line, "runId"), step.line.get("messageCount")
    stream = world.ledger(Runs).reducer(str(run))
    committed = any(move.target == "committed" and move.subject == run for move in step.moves)
    if not committed or stream is None or not stream.whole or world.unproved({"stream_id": f"run:{run}"}) is not None:
        return
    yield seen()
    if count != stream.count:
        yield finding(
            step,
            f"{stream.count} messages, as the stream reduces to",
            str(count),
            pointer="/messageCount",
            entity=("run", run),
            witness=_lines(world, run),
            key="count",
        )


def _lines(world, run):
    return world.ledger(Runs).lines.get(f"run:{run}", ())
