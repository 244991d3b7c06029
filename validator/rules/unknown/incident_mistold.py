"""An incident has no id, or is cleared without ever having been opened.

Why: an incident without an id can never be closed, and a closing that names no opening closes another one or none.
Trips: runtime.warning with cleared true for an incident that nothing opened.  Near miss: a warning opened it before.
Fix: Give an incident an id when it opens, and clear it under the same id.
"""

from validator.protocol.honest import is_honest
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import body, told, unsure


class Incidents:
    """The incidents that were opened."""

    hears = ("runtime.*",)

    def __init__(self, world: World):
        self.opened: set[str] = set()

    def apply(self, step: Step) -> None:
        key = told(step, "incident_id") if (step.type or "").startswith("runtime.") else None
        if isinstance(key, str) and told(step, "cleared") is not True:
            self.opened.add(key)


@rule(
    "UNK012",
    "incident-mistold",
    clauses={"agent-runtime": ("RUN-13", "RUN-14")},
    on="runtime.*",
    needs=(Incidents,),
)
def check(step, world, context):
    payload, key = body(step), told(step, "incident_id")
    cleared = told(step, "cleared") is True
    if key is None and (payload.get("incident_type") is not None or cleared):
        clause = "RUN-14" if cleared else "RUN-13"
        actual = "an honest value" if is_honest(payload.get("incident_id")) else "none"
        yield finding(step, "the incident_id", actual, pointer="/payload", clause=clause, key="no id")
    elif isinstance(key, str) and cleared:
        yield seen("RUN-14")
        if key not in world.ledger(Incidents).opened and not unsure(world, step):
            expected, actual = "the id of an incident that was opened", "one that nothing opened"
            yield finding(step, expected, actual, pointer="/payload/incident_id", clause="RUN-14", key="not opened")
    elif isinstance(key, str):
        yield seen("RUN-13")
