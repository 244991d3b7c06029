"""get_session, get_thread_read, get_tool_inventory, get_execution_environment."""

from __future__ import annotations

from typing import Any

from reference_runtime.domain.state import Decision, Request, State, about, only
from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.projections import snapshot
from reference_runtime.stamping import Draft


def get_session(state: State, request: Request) -> Decision:
    """The shell of a session; a window that is asked for is loaded, and told (CTL-30)."""
    session = state.need("session", request["session_id"])
    if "window" in request or "cursor" in request:
        yield about(session, "history.window.loaded", _window(state, session, request))
    return {"snapshot": snapshot(state, "session_snapshot", session.id)}


def _window(state: State, session: Record, request: Request) -> dict[str, Any]:
    last = state.get("stream", session.id).data["sequence"]
    cursor = request.get("cursor")
    if cursor is not None and not cursor.isdecimal():
        raise CommandRejected("bad_cursor", "That cursor was never given out.", category="invalid_request")
    turns = [one.data["sequence"] for one in state.find("turn", session_id=session.id) if one.known]
    older = [sequence for sequence in turns if cursor is None or sequence < int(cursor)]
    wanted = request.get("window", len(older) or 1)
    loaded = older[-wanted:] if wanted else []
    first = loaded[0] if loaded else last
    more = len(older) > len(loaded)
    first = first if more else min(1, first)
    said = {"window_size": len(loaded), "first_sequence": first, "last_sequence": last, "has_more": more}
    return {**said, "cursor": str(first)}


def get_thread_read(state: State, request: Request) -> Decision:
    thread = state.need("thread", request["thread_id"], session_id=request["session_id"])
    return {"snapshot": snapshot(state, "thread_read_model", thread.session, thread.id)}
    yield  # a decision is a generator, also one that writes nothing


def _scope(state: State, request: Request) -> dict[str, Any]:
    """The narrowest scope that was asked for, with what it lies in."""
    turn, thread, session = request.get("turn_id"), request.get("thread_id"), request.get("session_id")
    if turn:
        record = state.need("turn", turn, thread_id=thread, session_id=session)
        return {"session_id": record.session, "thread_id": record.thread, "turn_id": turn}
    if thread:
        return {"session_id": state.need("thread", thread, session_id=session).session, "thread_id": thread}
    if session is None:
        raise CommandRejected("scope_required", "Name the session, thread or turn.", category="invalid_request")
    return {"session_id": state.need("session", session).id}


def get_tool_inventory(state: State, request: Request) -> Decision:
    """The catalogue for a caller; it is resolved, and told, where there is none yet (CTL-32)."""
    ids = _scope(state, request)
    caller, mode = request.get("caller", "assistant"), request.get("mode", state.settings.mode)
    said = {**only(request, "policy"), "caller": caller, "mode": mode, "tools": list(state.settings.tools)}
    wide = {"honest": "not_applicable", "reason": "The catalogue was asked for a wider scope."}
    yield Draft("tool.catalog.resolved", {"thread_id": wide, "turn_id": wide, **ids}, said)
    asked = {"turn": ids.get("turn_id")} if "turn_id" in ids else {}
    thread = ids.get("thread_id")
    return {"snapshot": snapshot(state, "tool_inventory_snapshot", ids["session_id"], thread, caller=caller, **asked)}


def get_execution_environment(state: State, request: Request) -> Decision:
    ids = _scope(state, request)
    asked = {"turn": ids["turn_id"]} if "turn_id" in ids else {}
    thread = ids.get("thread_id")
    return {"snapshot": snapshot(state, "execution_environment_snapshot", ids["session_id"], thread, **asked)}
    yield  # a decision is a generator, also one that writes nothing
