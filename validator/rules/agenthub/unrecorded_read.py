"""A file was read by a tool and no run.file.read records it.

Why: a read inside the workspace needs no approval because it is on record; without the record nobody can review it.
Trips: a read_file call on docs/a.md comes back, and the run completes without run.file.read.  Near miss: with it.
Fix: Emit run.file.read with the path and the time for every file the runtime reads.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._paths import Paths
from validator.rules.agenthub._runs import Runs, entity, history, moved, payload, whole


@rule("AHB017", "unrecorded-read", clauses={"agenthub": "AH-89"}, on="run.completed", needs=(Runs,))
def check(step, world, context):
    run = world.ledger(Runs).of(step)
    if not run.reads or moved(step) is None or not whole(world, step) or payload(step).get("degraded") is True:
        return
    yield seen()
    recorded = Paths(map(_backwards, run.recorded))
    missing = [read for read in run.reads if not _is_recorded(_backwards(read[0]), recorded)]
    if missing:
        lines = tuple(line for _, called, came_back in missing for line in (called, came_back))
        yield finding(
            step,
            "run.file.read for every file read",
            f"{len(missing)} not on record",
            entity=entity(step),
            witness=(*history(world, step), *lines),
        )


def _is_recorded(path, recorded):
    """True for the same file, also when one of the two is written from a deeper folder."""
    return recorded.lead_to(path) or recorded.go_on_from(path)


def _backwards(path):
    return path.strip("./").split("/")[::-1]
