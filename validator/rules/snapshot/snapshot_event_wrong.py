"""An event about a snapshot names no read model there is, misplaces its gap, or carries a document of another shape.

Why: a consumer looks up the model, skips the gap and stores the document; each of these leads it astray.
Trips: a snapshot.repaired whose gap_from is above its gap_to.
Near miss: one whose gap lies below its own sequence.
Fix: Name one of the thirteen models or one of your own, state the gap in order, and carry a document of that model.
"""

from validator.rules import finding, rule, seen
from validator.rules.snapshot._claims import Claims


@rule(
    "SNP021",
    "snapshot-event-wrong",
    clauses={"agent-runtime": ("SNAP-3", "SNAP-6", "SNAP-14")},
    on=("snapshot.updated", "snapshot.repaired"),
    needs=(Claims,),
)
def check(step, world, context):
    payload = step.line.get("payload")
    body = payload if isinstance(payload, dict) else {}
    model = body.get("model")
    if isinstance(model, str):
        yield seen("SNAP-3")
        if model not in world.protocol.snapshots and not _is_vendors(model):
            yield _fault(step, "SNAP-3", "a read model of the protocol, or a vendor's own", "another name", "model")
    yield from _gap(step, body)
    if isinstance(model, str) and model in world.protocol.snapshots:
        for claim in world.ledger(Claims).now:
            yield from _shape(step, world, claim)


def _is_vendors(model):
    """A vendor's name is told apart as a vendor's event type is: `x-` in front, or a name with a domain."""
    return model.startswith("x-") or "." in model or "/" in model


def _gap(step, body):
    first, last = (body.get(name) for name in ("gap_from", "gap_to"))
    own = step.place.sequence if step.place else None
    if not isinstance(first, int) and not isinstance(last, int):
        return
    yield seen("SNAP-14")
    if isinstance(first, int) and isinstance(last, int) and first > last:
        yield _fault(step, "SNAP-14", "gap_from at most gap_to", "it is above it", "gap_from")
    elif own is not None:
        for name, value in (("gap_from", first), ("gap_to", last)):
            if isinstance(value, int) and value >= own:
                yield _fault(step, "SNAP-14", "below the sequence of the event", "it is not", name)
                return


def _shape(step, world, claim):
    yield seen("SNAP-6")
    for error in world.protocol.store.errors(world.protocol.snapshots[claim.model], claim.document):
        more = {"pointer": f"/payload/snapshot{error.pointer}", "clause": "SNAP-6"}
        yield finding(step, "the shape of the read model", "another shape", key=error.keyword, **more)
        return


def _fault(step, clause, expected, actual, name):
    return finding(step, expected, actual, pointer=f"/payload/{name}", clause=clause, key=f"{name} {actual}")
