"""An event was appended before its run was streaming.

Why: activation is what makes a run writable; a writer that does not wait for it may write into a run nobody started.
Trips: a record that says created, then text-delta.  Near miss: a record that says streaming, then text-delta.
Fix: Activate the run before the first append.
"""

from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import run_of


@rule("ATH012", "event-before-activation", clauses={"agent-threads": "AT-68"}, on="*")
def check(step, world, context):
    subject = world.subjects("run").get(run_of(step))
    if subject is None:
        return
    yield seen()
    if subject.state == "created":
        more = {"entity": ("run", subject.key), "state": "created", "witness": tuple(subject.history), "key": "created"}
        yield finding(step, "an event after the run became streaming", "the run is created", **more)
