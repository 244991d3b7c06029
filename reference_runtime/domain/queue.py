"""The queue of a thread: remove_queued_turn, promote_queued_turn, and what submission and the worker do to it."""

from __future__ import annotations

from typing import Any

from reference_runtime.domain.state import Decision, Request, State, about
from reference_runtime.errors import CommandRejected, NoOp
from reference_runtime.facts.record import Record
from reference_runtime.projections import queue_snapshot
from reference_runtime.stamping import Draft


def busy(state: State, thread_id: str) -> bool:
    """True while a turn of the thread is open: at work, or waiting before others."""
    return bool(state.find("turn", is_open=True, thread_id=thread_id))


def order(state: State, thread_id: str) -> list[str]:
    line = state.get("line", thread_id)
    return line.data.get("order", []) if line else []


def add(state: State, ids: dict[str, Any], place: str) -> Decision:
    position = len(order(state, ids["thread_id"]))
    said = {"operation": "added", "queued_turn_id": place, "position": position, "source": "submit_turn"}
    yield Draft("queue.changed", {**ids, "queue_id": f"queue_{ids['thread_id']}"}, said)
    return position


def _waiting(state: State, request: Request) -> Record:
    record = state.need("queue", request["queued_turn_id"], session_id=request.get("session_id"))
    place = state.get("place", record.id)
    if request.get("thread_id") not in {None, place.thread}:
        raise CommandRejected("wrong_owner", "The turn waits in another thread.", category="not_found")
    if record.state == "started":
        raise CommandRejected("turn_started", "The turn has left the queue to be worked on.", category="wrong_state")
    return record


def _ids(state: State, record: Record) -> dict[str, Any]:
    place = state.get("place", record.id)
    ids = {"session_id": place.session, "thread_id": place.thread, "queue_id": f"queue_{place.thread}"}
    return {**ids, "turn_id": place.data["turn_id"]}


def remove_queued_turn(state: State, request: Request) -> Decision:
    """Takes a waiting turn out; it ends as cancelled (CTL-28)."""
    record = _waiting(state, request)
    if record.state == "removed":
        raise NoOp()
    ids = _ids(state, record)
    said = {"operation": "removed", "queued_turn_id": record.id, "reason": request.get("reason", "Removed on request.")}
    yield Draft("queue.changed", ids, said)
    state.edit("plan", ids["turn_id"]).open = False
    return {"queue": queue_snapshot.items(state, ids["thread_id"])}


def promote_queued_turn(state: State, request: Request) -> Decision:
    """Moves a waiting turn forward; the others keep their order (CTL-29)."""
    record = _waiting(state, request)
    if record.state == "removed":
        raise CommandRejected("turn_removed", "The turn was removed from the queue.", category="wrong_state")
    ids, position = _ids(state, record), request.get("position", 0)
    line = order(state, ids["thread_id"])
    if position > line.index(record.id):
        raise CommandRejected("not_forward", "That place lies behind the turn.", category="invalid_request")
    if position == line.index(record.id):
        raise NoOp(queue=queue_snapshot.items(state, ids["thread_id"]))
    said = {"operation": "promoted", "queued_turn_id": record.id, "position": position}
    yield Draft("queue.changed", ids, {**said, "reason": request.get("reason", "Promoted on request.")})
    return {"queue": queue_snapshot.items(state, ids["thread_id"])}


def clear(state: State, turn: Record, reason: str) -> Decision:
    """Gives up everything that waits behind a turn."""
    waiting = order(state, turn.thread)
    if waiting:
        for place in waiting:
            state.edit("plan", state.get("place", place).data["turn_id"]).open = False
        said = {"operation": "cleared", "queued_turn_ids": waiting, "reason": reason}
        yield about(turn, "queue.changed", said, turn_id=None, queue_id=f"queue_{turn.thread}")


def start_next(state: State, thread_id: str) -> Decision:
    """Lets the first waiting turn leave the queue, when nothing else is at work."""
    waiting = order(state, thread_id)
    active = [turn for turn in state.find("turn", is_open=True, thread_id=thread_id) if turn.state != "queued"]
    if waiting and not active:
        place = state.get("queue", waiting[0])
        yield Draft("queue.changed", _ids(state, place), {"operation": "started", "queued_turn_id": place.id})
