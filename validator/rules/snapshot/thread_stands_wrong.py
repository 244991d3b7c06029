"""A thread is shown with a turn that is not at work, or as idle while one is.

Why: whoever opens the thread goes on from what it shows; a removed or unknown turn cannot be gone on from.
Trips: a turn is submitted, and the thread_read_model says idle.
Near miss: the thread_read_model says running and names the turn.
Fix: Derive the status and the active turn from the turns in view, from their submission to their end.
"""

from validator.protocol.honest import known
from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.rules import finding, rule, seen
from validator.rules.snapshot._claims import Claims
from validator.rules.snapshot._owners import NEEDS, THREAD, WAKES, compared, fault, owned, scope_of

CLAUSES = ("TURN-19", "HIST-13", "RM-37", "RM-38", "RM-36", "RM-59")


@rule("SNP016", "thread-stands-wrong", clauses={"agent-runtime": CLAUSES}, on=WAKES, needs=NEEDS)
def check(step, world, context):
    for found in compared(step, world, context):
        if found.claim.model != "thread_read_model" or not found.expected:
            continue
        removed, document = world.ledger(Claims).removed_turns, found.claim.document
        yield from _looks(found, world.ledger(Claims).rolled_back)
        if entries := owned(found, THREAD):
            yield fault(step, world, found, entries, _clause(found, entries[0], removed))
        elif (document.get("status"), document.get("freshness")) == ("unknown", "current") and _open(found):
            yield from _unknown(step, world, found)


def _looks(found, rolled_back):
    document = found.claim.document
    if _open(found) and isinstance(document.get("status"), str):
        yield seen("TURN-19")
    if isinstance(known(document.get("active_turn_id")), str):
        yield seen("RM-37", "RM-38")
    if rolled_back:
        yield seen("HIST-13")
    if isinstance(known(document.get("last_outcome")), dict):
        yield seen("RM-59")


def _open(found):
    """True when a turn of the thread is open."""
    return found.expected.get("active_turn_id") is not None


def _clause(found, entry, removed):
    if entry.names == ("status",):
        return "TURN-19" if _open(found) else "RM-36"
    turn = entry.states[1]
    state = found.past.state("turn", turn)
    if turn in removed:
        return "HIST-13"
    if entry.names == ("active_turn_id",):
        if state is None:
            return "RM-37"
        if found.past.protocol.machines["turn"].is_terminal(state):
            return "RM-38"
        return "RM-36"
    return "RM-59"


def _unknown(step, world, found):
    if found.expected["status"] == "unknown":
        return
    yield finding(
        step,
        found.expected["status"],
        "unknown, and current",
        pointer=f"{found.claim.pointer}/status",
        clause="TURN-19",
        entity=scope_of(found.claim),
        state=found.expected["status"],
        witness=world.ledger(Replay).lines(found.claim.session, step.number),
        key="unknown",
    )
