"""A step began before the one before it was finished, or the two events of a step do not match.

Why: usage and finish reasons belong to steps; when they cannot be paired, they are counted twice or not at all.
Trips: step-started 0, then step-started 1.  Near miss: step-started 0, and the run fails.
Fix: Append step-finished with the same stepIndex before the next step starts or the run commits.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import payload, stream_of


class Steps:
    """The open step of each stream, and the one before the present line."""

    hears = ("step-started", "step-finished")

    def __init__(self, world):
        self.open = {}
        self.before = {}

    def apply(self, step):
        stream = stream_of(step)
        self.before = {}
        if step.kind != "event" or step.type not in {"step-started", "step-finished"}:
            return
        self.before[stream] = self.open.pop(stream, None)
        if step.type == "step-started":
            self.open[stream] = (payload(step).get("stepIndex"), step.number)


ON = ("step-started", "step-finished", "record:run")


@rule("ATH011", "step-unpaired", clauses={"agent-threads": ("AT-28", "AT-29")}, on=ON, needs=(Steps,))
def check(step, world, context):
    steps = world.ledger(Steps)
    if step.kind == "run":
        yield from _commit(step, steps)
        return
    stream = stream_of(step)
    before = steps.before.get(stream)
    entity = {"entity": ("stream", str(stream))}
    if step.type == "step-started":
        yield seen("AT-28")
        if before:
            more = {"clause": "AT-28", "witness": (before[1],), "key": "next step", **entity}
            yield finding(step, "step-finished before the next step", "a step that is still open", **more)
    elif before:
        yield seen("AT-29")
        index, own = before[0], payload(step).get("stepIndex")
        if (index is None) != (own is None) or (known(index) is not None and known(own) not in (None, index)):
            more = {"clause": "AT-29", "witness": (before[1],), "key": "index", **entity}
            yield finding(step, "the stepIndex of its beginning", "another", pointer="/event/payload/stepIndex", **more)


def _commit(step, steps):
    run = step.line.get("runId")
    if any(move.subject == run and move.target == "committed" for move in step.moves):
        yield seen("AT-28")
        before = steps.open.get(f"run:{run}")
        if before:
            more = {"clause": "AT-28", "witness": (before[1],), "key": "commit", "entity": ("run", run)}
            yield finding(
                step, "step-finished before the commit", "a step that is still open", pointer="/status", **more
            )
