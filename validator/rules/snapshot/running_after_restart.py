"""After a restart a snapshot still shows work as running that nobody has heard of since.

Why: a worker that died with the runtime is waited for as if it lived.
Trips: a turn runs, the runtime restarts, and the first thread_read_model shows the turn as running.
Near miss: the first thread_read_model shows the turn as stale.
Fix: Show open work as stale, unknown or lost until an event says that it goes on.
"""

from validator.rules import finding, rule, seen
from validator.rules._silence import Silence
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._owners import WAKES

MACHINES = {"turn_id": "turn", "task_id": "task", "tool_call_id": "tool_call", "process_id": "process"}
MACHINES |= {"run_id": "attempt", "subagent_id": "subagent", "job_id": "job"}
RUNNING = ("running", "streaming")


class Silent:
    """Work that ran when the runtime was stopped and has not been heard of since, with the line of the restart."""

    since = ("record:restart",)
    heeds_last = False

    def __init__(self, world):
        self.work = Silence(world, lambda subject, _runtime: subject.state in RUNNING)

    def apply(self, step):
        if step.kind == "restart":
            self.work.restart(step.number)
        else:
            self.work.hear(step)


@rule(
    "SNP018",
    "running-after-restart",
    clauses={"agent-runtime": "HON-37"},
    on=WAKES,
    needs=(Claims, Silent),
)
def check(step, world, context):
    silent = world.ledger(Silent).work
    for claim in world.ledger(Claims).now if silent else ():
        reported = set()
        for path, name, key, status in _entries(claim.document, ()):
            subject = (MACHINES[name], key)
            if subject not in silent:
                continue
            yield seen()
            if status in RUNNING and not reported:
                reported.add(subject)
                held = world.subjects(subject[0])[key]
                yield finding(
                    step,
                    "stale, unknown or lost",
                    status,
                    pointer=f"{claim.pointer}{path}/status",
                    entity=subject,
                    state=held.state,
                    witness=(*held.history, silent.line(subject)),
                    key=subject[0],
                )


def _entries(value, path):
    """Every record with an id and a status: pointer, name of the id, id, status."""
    if isinstance(value, list):
        for place, entry in enumerate(value):
            yield from _entries(entry, (*path, str(place)))
    if not isinstance(value, dict):
        return
    name = next((name for name in value if name in MACHINES and isinstance(value[name], str)), None)
    if name and path and isinstance(value.get("status"), str):
        yield "".join(f"/{step}" for step in path), name, value[name], value["status"]
    for field, entry in value.items():
        yield from _entries(entry, (*path, field))
