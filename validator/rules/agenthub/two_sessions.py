"""The events of one run name two sessions.

Why: a run is visible in one shared session at most; with two, each of them shows half a run.
Trips: run.created in session s1, then run.started in session s2.
Near miss: an event of the run that names no session.
Fix: Keep the session a run was created in for all of its events; a run for another session is another run.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity


@rule("AHB002", "two-sessions", clauses={"agenthub": "AH-10"}, on="*", needs=(Runs,))
def check(step, world, context):
    sessions = world.ledger(Runs).of(step).sessions
    if "session_id" not in step.scope or not sessions:
        return
    yield seen()
    first = next(iter(sessions.values()))
    if sessions[step.scope["session_id"]] == step.number != first:
        actual = "another session"
        pointer = "/sessionId"
        yield finding(step, "the session of the run", actual, pointer=pointer, entity=entity(step), witness=(first,))
