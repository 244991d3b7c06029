"""Which rule reports which difference, and the finding it makes of it.

A difference belongs to exactly one rule: what must never be dropped or guessed to the rule named for it, the rest to
the rules for values, inventions and missing entries. One snapshot yields at most one finding per rule; the first
difference is named and the others are counted.
"""

from __future__ import annotations

from validator.replay.readmodels.agent_runtime.names import FAILED
from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import Finding, finding
from validator.rules.snapshot._claims import Claim, Claims
from validator.rules.snapshot._compare import Difference
from validator.rules.snapshot._comparisons import Compared, Comparisons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NEEDS = (Claims, Comparisons, Replay)
WAKES = ("snapshot.updated", "snapshot.repaired", "record:snapshot", "record:result")

VALUE, INVENTED, ACTION, CALL, ATTEMPT = "SNP001", "SNP002", "SNP003", "SNP004", "SNP005"
EDGE, ENTRY, QUEUE, GUESSED, THREAD, EXPIRED = "SNP006", "SNP007", "SNP008", "SNP009", "SNP016", "SNP017"
WINDOW = "SNP015"

DROPPED = {
    "pending_requests": ACTION,
    "pending_approvals": ACTION,
    "failed_tool_call_ids": CALL,
    "attempts": ATTEMPT,
    "relationships": EDGE,
    "edges": EDGE,
    **dict.fromkeys(("recent_turns", "recent_steps"), WINDOW),
}
"""Who owns an entry that is missing, after the list it is missing from."""
WAITING = ("queued_turns", "queued_turn_ids")
DONE = ("completed", "succeeded")


def owner(found: Compared, entry: Difference) -> str:
    """The rule that a difference belongs to."""
    claim, last = found.claim, entry.names[-1]
    if entry.kind == "dropped":
        if last == "tool_calls":
            return CALL if entry.states[0] in FAILED else ENTRY
        return QUEUE if _waits(claim, entry) else DROPPED.get(last, ENTRY)
    if _waits(claim, entry) and (entry.kind in {"more", "order"} or last in {"position", "queued_turn_ids"}):
        return QUEUE
    if _is_beyond_window(claim, entry):
        return WINDOW
    if entry.names == ("outputs", "status") and entry.states[0] == "expired":
        return EXPIRED
    if _stands_wrong(claim, entry):
        return THREAD
    if _is_guess(found, entry):
        return GUESSED
    return INVENTED if entry.kind == "more" or "verification_outcomes" in entry.names else VALUE


def _waits(claim: Claim, entry: Difference) -> bool:
    return entry.names[0] in WAITING or (claim.model == "queue_snapshot" and entry.names[0] == "items")


def _is_beyond_window(claim: Claim, entry: Difference) -> bool:
    if claim.model != "session_snapshot":
        return False
    extra = entry.names[0] in {"recent_turns", "recent_steps"} and entry.kind == "more" and len(entry.path) == 2
    return extra or entry.names[0] == "history_truncated"


def _is_guess(found: Compared, entry: Difference) -> bool:
    """True for a good end that is shown, and that the subject never came to."""
    if entry.kind == "more" or not (entry.names[-1] == "status" or entry.kind == "place"):
        return False
    if entry.entity and entry.entity[0] == "subagent_id" and entry.entity[1] in found.children:
        return False
    return entry.states[1] in DONE and entry.states[0] != "archived"


def _stands_wrong(claim: Claim, entry: Difference) -> bool:
    """A thread shown idle while a turn is open, or with a turn that is not at work."""
    if claim.model != "thread_read_model":
        return False
    return entry.names in {("active_turn_id",), ("last_outcome", "turn_id")} or (
        entry.names == ("status",) and entry.states[1] == "idle"
    )


def compared(step: Step, world: World, context: Any) -> list[Compared]:
    """The comparisons of a line."""
    return world.ledger(Comparisons).of(step, context.errors)


def owned(found: Compared, rule: str) -> list[Difference]:
    """The differences that belong to a rule."""
    return [entry for entry in found.differences if owner(found, entry) == rule]


def restarted(world: World, found: Compared) -> bool:
    """True when the document is the first of its model and scope since a restart."""
    return found.claim.key in world.ledger(Claims).restarted


def fault(step: Step, world: World, found: Compared, entries: list[Difference], clause: str, **more: Any) -> Finding:
    """One finding for all differences of a rule in one document."""
    entry, claim = entries[0], found.claim
    others = f", and {len(entries) - 1} more" if len(entries) > 1 else ""
    kind = (entry.entity[0].removesuffix("_id"), entry.entity[1]) if entry.entity else None
    return finding(
        step,
        entry.expected,
        f"{entry.actual}{others}",
        pointer=claim.pointer + entry.pointer,
        clause=clause,
        entity=kind or scope_of(claim),
        state=entry.states[0],
        witness=world.ledger(Replay).lines(claim.session, step.number),
        key=f"{claim.model} {entry.kind} {'/'.join(entry.names)}",
        **more,
    )


def scope_of(claim: Claim) -> tuple[str, str] | None:
    """What a document speaks about."""
    named = next(iter(claim.scope.items()), None)
    if named:
        return named[0].removesuffix("_id"), named[1]
    return ("session", claim.session) if claim.session else None
