"""A completed run does not name its transcript.

Why: a client has to link a completed run to its transcript, and a link needs a target.
Trips: run.completed without transcriptRef.  Near miss: run.completed with an honest transcriptRef.
Fix: Name the transcript in `transcriptRef`, or say honestly why there is none.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import entity, history, moved, payload


@rule("AHB028", "transcript-not-named", clauses={"agenthub": "AH-146"}, on="run.completed")
def check(step, world, context):
    # A profile may require the field; the schema then says so.
    if moved(step) is None or any(error.message == "lacks transcriptRef" for error in context.errors):
        return
    yield seen()
    if "transcriptRef" not in payload(step):
        yield finding(
            step,
            "transcriptRef",
            "the transcript is not named",
            pointer="/payload",
            entity=entity(step),
            witness=history(world, step),
        )
