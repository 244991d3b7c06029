"""submit_turn, interrupt_turn, resume_thread."""

from __future__ import annotations

from typing import Any

from reference_runtime.domain import queue, settle
from reference_runtime.domain.state import ENDED, Decision, Request, State, about, only
from reference_runtime.errors import CommandRejected, NoOp
from reference_runtime.facts.record import Record
from reference_runtime.stamping import Draft

_UNDER_WAY = {"started", "running"}


def submit_turn(state: State, request: Request) -> Decision:
    """Accepts a turn, lets it wait behind another, or says which policy refuses it (CTL-10)."""
    known = state.get("turn", request.get("turn_id"))
    if known and known.known:
        return _again(known, request)
    script = (request.get("options") or {}).get("script", "reply")
    if script not in state.settings.scripts:
        raise CommandRejected("unknown_script", "There is no script of that name.", category="invalid_request")
    thread_id = yield from _thread(state, request)
    busy = queue.busy(state, thread_id)
    if busy and state.settings.queue_policy != "queue":
        raise CommandRejected("thread_busy", "The thread is at work.", category="busy", policy="reject_when_busy")
    turn_id = request.get("turn_id") or state.new_id("turn")
    ids = {"session_id": request["session_id"], "thread_id": thread_id, "turn_id": turn_id}
    said = {
        "status": "queued" if busy else "accepted",
        "input_ref": state.keep(f"input://{turn_id}", request["input_parts"]),
        "source": request.get("source", "api"),
        **only(request, "options"),
    }
    state.edit("plan", turn_id).data = {"script": script, "ops": None, "at": 0}
    answer = {"turn_id": turn_id, "thread_id": thread_id, "session_id": request["session_id"]}
    if not busy:
        yield Draft("turn.submitted", ids, said)
        return {"outcome": "accepted", **answer}
    place = state.new_id("queued")
    yield Draft("turn.submitted", ids, {**said, "queued_turn_id": place, "queue_policy": "wait_in_order"})
    position = yield from queue.add(state, ids, place)
    return {"outcome": "queued", **answer, "queued_turn_id": place, "position": position, "policy": "wait_in_order"}


def _again(known: Record, request: Request) -> Any:
    if known.session != request["session_id"] or request.get("thread_id") not in {None, known.thread}:
        raise CommandRejected("turn_id_taken", "Another thread has a turn of that id.", category="conflict")
    raise NoOp(turn_id=known.id, thread_id=known.thread, session_id=known.session)


def _thread(state: State, request: Request) -> Decision:
    """The thread to work in; a session and a thread that are new are told first."""
    session_id, thread_id, create = request["session_id"], request.get("thread_id"), request.get("create_thread")
    session = state.get("session", session_id)
    if session is None:
        title = (create or {}).get("title", "A session")
        yield Draft("session.created", {"session_id": session_id}, _shell(state, title))
    if thread_id is None and create["policy"] == "reuse_active":
        thread_id = session.data.get("active_thread_id", session.data.get("last_submitted")) if session else None
    known = state.get("thread", thread_id)
    if known and known.known:
        return state.need("thread", thread_id, session_id=session_id).id
    if thread_id is not None and create is None and session is not None:
        state.need("thread", thread_id)
    thread_id = thread_id or state.new_id("thread")
    title = (create or {}).get("title", "Main")
    yield Draft("thread.started", {"session_id": session_id, "thread_id": thread_id}, {"title": title})
    return thread_id


def _shell(state: State, title: str) -> dict[str, Any]:
    return {"title": title, "workspace_id": state.settings.workspace_id, "created_at": state.now}


def interrupt_turn(state: State, request: Request) -> Decision:
    """Records the intent, settles what the turn set going, and ends it as cancelled (CTL-11)."""
    state.need("session", request["session_id"])
    turn = _to_interrupt(state, request)
    wish = {"reason": request["reason"], "queue_policy": request.get("queue_policy", "keep")}
    plan = state.get("plan", turn.id)
    if plan and "interrupt" in plan.data:
        raise NoOp(turn_id=turn.id)
    yield about(turn, "run.status", {"phase": "interrupting", "title": "Stopping", "detail": request["reason"]})
    if plan and uninterruptible(state, turn):
        state.edit("plan", turn.id).data["interrupt"] = wish
    else:
        yield from stop(state, turn, **wish)
    return {"turn_id": turn.id}


def uninterruptible(state: State, turn: Record) -> list[Record]:
    """Calls under way that are not to be cut off; the interrupt waits until they have ended (CTL-67)."""
    under_way = (call for call in state.find("tool_call", is_open=True, turn_id=turn.id) if call.state in _UNDER_WAY)
    tools = ((call, state.settings.tool(call.data.get("tool_name", "")) or {}) for call in under_way)
    return [call for call, tool in tools if tool.get("interrupt_behavior") != "cancel"]


def _to_interrupt(state: State, request: Request) -> Record:
    if turn_id := request.get("turn_id"):
        turn = state.need("turn", turn_id, session_id=request["session_id"], thread_id=request.get("thread_id"))
        if turn.state == "queued":
            raise CommandRejected(
                "turn_queued", "It has not started; remove it from the queue.", category="wrong_state"
            )
        if turn.state in ENDED:
            raise NoOp(turn_id=turn.id)
        return turn
    if thread_id := request.get("thread_id"):
        state.need("thread", thread_id, session_id=request["session_id"])
    where = {"thread_id": thread_id} if thread_id else {"session_id": request["session_id"]}
    active = [turn for turn in state.find("turn", is_open=True, **where) if turn.state != "queued"]
    if not active:
        raise NoOp()
    return active[-1]


def stop(state: State, turn: Record, reason: str, queue_policy: str) -> Decision:
    """Everything that an interrupted turn takes along, one fact each."""
    where = {"turn_id": turn.id}
    yield from settle.actions(state, reason, **where)
    yield from settle.permissions(state, reason, **where)
    yield from settle.requests(state, reason, "cancelled", **where)
    yield from settle.hooks(state, reason, **where)
    yield from settle.processes(state, reason, **where)
    yield from settle.calls(state, reason, "cancelled", **where)
    for child in state.find("subagent", is_open=True, **where):
        yield about(child, "subagent.closed", {"reason": reason, "closed_by": "interrupt"})
    if queue_policy == "clear":
        yield from queue.clear(state, turn, reason)
    said = {"status": "cancelled", "reason": "interrupted", "interrupted_by": "user", "queue_policy": queue_policy}
    yield about(turn, "turn.failed", said)
    if state.get("plan", turn.id):
        state.edit("plan", turn.id).open = False


def resume_thread(state: State, request: Request) -> Decision:
    """Says what came back, then takes up the turn that was lost (CTL-12)."""
    thread = state.need("thread", request["thread_id"], session_id=request["session_id"])
    if queue.busy(state, thread.id):
        raise NoOp(thread_id=thread.id, resumed=True)
    stream = state.get("stream", thread.session)
    last = stream.data["sequence"]
    window = {"window_size": last, "first_sequence": 1, "last_sequence": last, "has_more": False}
    yield about(thread, "history.window.loaded", window)
    lost = [turn for turn in state.find("turn", thread_id=thread.id) if turn.state == "lost"]
    if lost:
        yield about(lost[-1], "turn.started", {"reason": "Taken up again after it was lost."})
        script = state.get("plan", lost[-1].id).data["script"]
        plan = state.edit("plan", lost[-1].id)
        plan.open, plan.data = True, {"script": script, "ops": None, "at": 0}
    degraded = bool(stream.data.get("degraded"))
    missing = [{"name": "work in flight", "status": "unavailable", "reason": "It ended with the process that ran it."}]
    return {"thread_id": thread.id, "resumed": bool(lost), "degraded": degraded, "missing": missing if degraded else []}
