"""spawn_subagent, send_subagent_input, wait_subagents, resume_subagent, close_subagent, list_subagents."""

from __future__ import annotations

from typing import Any

from reference_runtime.domain.state import ENDED, Decision, Request, State, about, only
from reference_runtime.errors import CommandRejected, NoOp
from reference_runtime.facts.record import Record
from reference_runtime.projections import entries, snapshot
from reference_runtime.stamping import Draft


def _answer(child: Record) -> dict[str, Any]:
    return {"subagent_id": child.id, "subagent": entries.subagent(child)}


def spawn_subagent(state: State, request: Request) -> Decision:
    """Opens a child with links to its parent, and says what it shares with it (CTL-34)."""
    known = state.get("subagent", request.get("subagent_id"))
    if known and known.known:
        raise NoOp(subagent_id=known.id, child_thread_id=known.data.get("child_thread_id"))
    thread = state.need("thread", request["parent_thread_id"], session_id=request["parent_session_id"])
    turn_id, task_id = request.get("parent_turn_id"), request.get("parent_task_id")
    if turn_id:
        state.need("turn", turn_id, thread_id=thread.id)
    task = state.need("task", task_id, session_id=thread.session) if task_id else None
    if task and (task.state == "cancelling" or task.state in ENDED):
        raise CommandRejected("task_ending", "A task that ends hands nothing on.", category="wrong_state")
    child_id, child_thread = request.get("subagent_id") or state.new_id("subagent"), state.new_id("thread")
    if request.get("input_parts"):
        state.keep(f"input://{child_id}/0", request["input_parts"])
    ids = {"session_id": thread.session, "thread_id": thread.id, "turn_id": turn_id, "task_id": task_id}
    parents = {"parent_session_id": thread.session, "parent_thread_id": thread.id}
    parents |= {"parent_turn_id": turn_id, "parent_task_id": task_id}
    said = only(request, "role", "nickname", "isolation", "model_policy")
    ids["subagent_id"] = child_id
    yield Draft("subagent.spawned", ids, {**parents, "child_thread_id": child_thread, **said})
    if task:
        times = {"status": "active", "created_at": state.now, "updated_at": state.now}
        edge = {"kind": "spawned_subagent", "target_id": child_id, **times}
        handed = {"target_kind": "subagent", "target_id": child_id, "relationship": edge}
        yield about(task, "task.delegated", handed, subagent_id=child_id)
    return {"subagent_id": child_id, "child_thread_id": child_thread}


def send_subagent_input(state: State, request: Request) -> Decision:
    child = state.need("subagent", request["subagent_id"])
    reference = state.keep(state.new_id(f"input://{child.id}/part"), request["input_parts"])
    yield about(child, "subagent.input", {"input_ref": reference})
    return _answer(child)


def wait_subagents(state: State, request: Request) -> Decision:
    """Answers at once: scripted children move only when the runtime is driven, so time is up for those still open."""
    found = [state.need("subagent", identity) for identity in request["subagent_ids"]]
    return {"subagents": [entries.subagent(child) for child in found], "timed_out": any(child.open for child in found)}
    yield  # a decision is a generator, also one that writes nothing


def resume_subagent(state: State, request: Request) -> Decision:
    child = state.need("subagent", request["subagent_id"])
    if child.state == "running":
        raise NoOp(**_answer(child))
    yield about(child, "subagent.status", {"status": "running", "resumed": True, "reason": request["reason"]})
    return _answer(child)


def close_subagent(state: State, request: Request) -> Decision:
    child = state.need("subagent", request["subagent_id"])
    if child.state == "closed":
        raise NoOp(**_answer(child))
    said = {"reason": request.get("reason", "Closed on request."), "closed_by": "caller"}
    yield about(child, "subagent.closed", said)
    return _answer(child)


def summary(state: State, request: Request) -> dict[str, Any]:
    """The children and jobs of the scope asked for."""
    turn, thread, session = request.get("turn_id"), request.get("thread_id"), request.get("session_id")
    where: dict[str, str] = {}
    if turn:
        record = state.need("turn", turn, thread_id=thread, session_id=session)
        thread, session, where = record.thread, record.session, {"turn_id": turn}
    elif thread:
        session = state.need("thread", thread, session_id=session).session
    elif task := request.get("task_id"):
        session, where = state.need("task", task, session_id=session).session, {"task_id": task}
    if session is None:
        raise CommandRejected("scope_required", "Name the session, thread, turn or task.", category="invalid_request")
    state.need("session", session)
    return {"snapshot": snapshot(state, "subagent_job_summary", session, thread, **where)}


def list_subagents(state: State, request: Request) -> Decision:
    return summary(state, request)
    yield  # a decision is a generator, also one that writes nothing
