"""What a thread's turns add up to: the active one, the last outcome, the thread's status."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied, protocol
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections.entries import status
from validator.protocol.honest import known

_OVER = {"completed", "failed", "cancelled", "timed_out", "lost"}
_OUTCOMES = {"completed": "completed", "cancelled": "interrupted", "timed_out": "timed_out", "lost": "unknown"}


def active_turn(turns: list[Record]) -> str | None:
    """The turn in view that is neither queued, nor ended, nor lost; the one started, else submitted, last."""
    at_work = [t for t in turns if t.known and t.state not in _OVER | {"queued"} and not t.data.get("removed")]
    latest = max(at_work, key=lambda t: (t.data.get("started", 0), t.data.get("submitted", 0)), default=None)
    return latest.id if latest else None


def last_outcome(turns: list[Record]) -> dict[str, Any] | None:
    """How the turn in view that ended, or was lost, last came out."""
    over = [t for t in turns if t.state in _OVER and "outcome" in t.data and not t.data.get("removed")]
    if not over:
        return None
    turn = max(over, key=lambda t: t.data["outcome"])
    error = known(turn.data.get("error")) or {}
    cause = error.get("category", turn.data.get("cause")) if turn.state != "completed" else None
    told = {"turn_id": turn.id, "outcome_type": _outcome_type(turn, error), "ended_at": turn.data["outcome_at"]}
    more = {"summary": turn.data.get("summary"), "primary_cause": cause, "retryable": error.get("retryable")}
    return copied("outcome", {**told, **more})


def _outcome_type(turn: Record, error: dict[str, Any]) -> str:
    if turn.state != "failed":
        return _OUTCOMES[turn.state]
    category = str(error.get("category", ""))
    return next((f"failed_{word}" for word in ("tool", "provider", "model") if category.startswith(word)), "failed")


def shown_status(unit: Unit, thread: Record) -> str:
    """The thread's state; stale while work of it is in doubt."""
    kinds = (machine.name for machine in protocol().machines.values() if machine.work)
    work = (record for kind in kinds for record in unit.find(kind, is_open=True, thread_id=thread.id))
    return "stale" if any(record.data.get("doubted") for record in work) else status(thread)
