"""A session calls a thread its active or pinned one that belongs to another session.

Why: a consumer opens the session and shows somebody else's conversation.
Trips: session s1 names as active a thread of session s2.  Near miss: it names a thread of its own.
Fix: Check the session of a thread before it is made active or pinned.
"""

from validator.rules import finding, rule, seen


@rule("IDN012", "foreign-thread", clauses={"agent-runtime": "SES-4"}, on="session.*")
def check(step, world, context):
    session = step.scope.get("session_id")
    for pointer, name in _named(step.line.get("payload")):
        thread = world.subjects("thread").get(name)
        owner = thread.scope.get("session_id") if thread else None
        if owner is None or session is None:
            continue
        if owner == session:
            yield seen()
            continue
        yield finding(
            step,
            "a thread of this session",
            "one of another session",
            pointer=pointer,
            entity=("thread", name),
            witness=(thread.history[0],),
            key=pointer.split("/")[2],
        )


def _named(payload):
    """The threads that a session event names, with where it names them."""
    payload = payload if isinstance(payload, dict) else {}
    if isinstance(payload.get("active_thread_id"), str):
        yield "/payload/active_thread_id", payload["active_thread_id"]
    pinned = payload.get("pinned_thread_ids")
    for index, name in enumerate(pinned if isinstance(pinned, list) else ()):
        if isinstance(name, str):
            yield f"/payload/pinned_thread_ids/{index}", name
