"""An event of a kind no catalogue lists was appended after its run was over.

Why: a reader has reduced the stream and gone; whatever is appended later never becomes part of a message.
Trips: a record that says failed, then an event of kind acme-note in its stream.
Near miss: an event of kind acme-note while the run is streaming.
Fix: Append before the run is finalized, or not at all.
"""

from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import run_of


@rule("ATH003", "event-after-end", clauses={"agent-threads": "AT-67"}, on="*")
def check(step, world, context):
    subject = world.subjects("run").get(run_of(step))
    # The table judges the kinds it knows.
    if subject is None or step.type in world.protocol.events:
        return
    yield seen()
    if world.protocol.machines["run"].is_terminal(subject.state):
        yield finding(
            step,
            "no new event after the terminal record",
            f"the run is {subject.state}",
            entity=("run", subject.key),
            state=subject.state,
            witness=tuple(subject.history),
            key="unlisted kind",
        )
