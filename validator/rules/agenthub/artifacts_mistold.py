"""The artifacts told at the end are not those that the run announced.

Why: a client links a completed run to its artifacts; one left out is lost, one that never existed is a dead link.
Trips: run.completed with an empty list after run.artifact.ready.
Near miss: run.completed that lists the announced artifact.
Fix: List in run.completed every artifact and preview of the run once, with the id and kind it was announced with.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.agenthub._runs import Runs, entity, history, moved, payload, whole, word


@rule("AHB021", "artifacts-mistold", clauses={"agenthub": "AH-40"}, on="run.completed", needs=(Runs,))
def check(step, world, context):
    listed = known(payload(step).get("artifacts"))
    if not isinstance(listed, list) or moved(step) is None or not whole(world, step):
        return
    yield seen()
    announced = world.ledger(Runs).of(step).artifacts
    degraded = payload(step).get("degraded") is True
    named = {word(entry, "artifactId") for entry in listed if isinstance(entry, dict)}
    for pointer, expected, actual, lines in _faults(listed, announced, named, degraded):
        witness = (*history(world, step), *lines)
        yield finding(step, expected, actual, pointer=pointer, entity=entity(step), witness=witness, key=actual)


def _faults(listed, announced, named, degraded):
    place = "/payload/artifacts"
    for name, (_, line) in announced.items():
        if name not in named:
            yield place, "every artifact of the run", "an announced artifact is left out", (line,)
    for index, entry in enumerate(listed):
        name = word(entry, "artifactId") if isinstance(entry, dict) else ""
        kind, line = announced.get(name, (None, 0))
        if name in announced and kind is not None and entry.get("kind") != kind:
            yield f"{place}/{index}/kind", "the kind it was announced with", "another kind", (line,)
        elif name and name not in announced and not degraded:
            yield f"{place}/{index}/artifactId", "an artifact of the run", "it was never announced", ()
