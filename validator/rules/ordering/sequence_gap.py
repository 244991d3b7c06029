"""Sequences of a stream are missing, and nothing says so.

Why: what the missing events told is unknown, and a consumer that does not know it shows a guess.
Trips: sequences 1, 2, 5, 6 without a repair marker.  Near miss: 1, 2, then snapshot.repaired with sequence 5, then 6.
Fix: Do not lose events; where they are lost, emit snapshot.repaired that names the first and the last that is missing.
"""

from validator.rules import END, LINE, Finding, rule, seen
from validator.rules.ordering._arrivals import Arrivals, in_step

CLAUSES = {"agent-runtime": "ORD-14", "agenthub": "AH-4", "runagents": "RA-21", "agent-threads": "AT-22"}


# It listens to lines, not to events, because a line that cannot be read may hold what is missing.
@rule("ORD006", "sequence-gap", clauses=CLAUSES, on=(LINE, END), needs=(Arrivals,), quiet=in_step)
def check(step, world, context):
    gaps, policy = world.ledger(Arrivals).gaps, world.protocol.order["gaps"]
    if step is None:
        if policy != "tolerated":
            yield from _open(gaps, world, context, policy == "repair_marker")
    elif step.kind == "unreadable":
        if any(problem.name != "blank-line" for problem in context.line.problems):
            gaps.unreadable(step.number)
    elif _counts(step.place, policy):
        yield seen()


def _counts(place, policy):
    """True for a step between two sequences; where gaps are tolerated, only a gap shows anything."""
    return place is not None and (place.verdict == "gap" or (place.verdict == "next" and policy != "tolerated"))


def _open(gaps, world, context, repairable):
    expected = context.options.expect or world.header.get("completeness")
    for gap in gaps.open:
        if gap.line in world.ledger(Arrivals).reconnects.owned:
            continue
        # A marker may come later, in what a prefix does not hold.
        if repairable and expected == "prefix":
            continue
        yield Finding(
            gap.line,
            "a repair marker that covers what is missing" if repairable else "every sequence of the stream",
            f"{gap.first} to {gap.last} are missing" if gap.first != gap.last else f"{gap.first} is missing",
            entity=("stream", gap.stream),
            witness=tuple(line for line in (gap.before, gap.followed) if line),
            key="beginning" if gap.before is None else "gap",
        )
