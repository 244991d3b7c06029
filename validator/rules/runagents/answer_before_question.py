"""The log of a run begins with an event that answers another.

Why: the question the answer belongs to is nowhere, so the log is cut or its events are numbered wrongly.
Trips: a run record, then TOOL_RESPONSE as event 1 of the run.  Near miss: the same event as number 5 of its log.
Fix: Log the event that the answer belongs to first.
"""

from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen

ANSWERS = ("INVOKE_COMPLETED", "INVOKE_FAILED", "TOOL_CALLED", "TOOL_RESPONSE", "APPROVED", "REJECTED", "RESUMED")


@rule("RAG018", "answer-before-question", clauses={"runagents": "RA-58"}, on="*")
def check(step, world, context):
    if step.place is None or step.place.verdict != "first" or step.type is None:
        return
    yield seen()
    # A log whose first number is greater may have begun before the capture; a refused event was reported as such.
    if step.type in ANSWERS and (step.place.sequence or 0) <= 1 and not step.refusals:
        run = word(step.line, "run_id")
        history = world.subjects("run")[run].history if run in world.subjects("run") else ()
        more = {"entity": ("run", str(run)), "witness": tuple(history), "key": step.type}
        yield finding(step, "an event that needs nothing before it", step.type, pointer="/type", **more)
