"""The life of a task up to its end, and reading it; `task_end` has the rest."""

from __future__ import annotations

from typing import Any

from reference_runtime.domain.state import ENDED, Decision, Request, State, about, only
from reference_runtime.errors import CommandRejected, NoOp
from reference_runtime.facts.record import Record
from reference_runtime.projections import entries, snapshot
from reference_runtime.stamping import Draft

_META = ("title", "objective", "task_kind", "scope", "constraints", "acceptance", "owner", "assignee", "priority")
_TRIGGERS = {"failed": "failure", "timed_out": "timeout", "lost": "worker_lost", "blocked": "rerouted"}


def answer(state: State, task: Record, **more: Any) -> dict[str, Any]:
    """The fields every answer about a task has."""
    return {"task_id": task.id, "task": entries.task(state, state.get("task", task.id)), **more}


def open_attempts(state: State, task: Record) -> list[Record]:
    return [one for one in state.find("attempt", task_id=task.id) if one.state == "running"]


def children(state: State, task: Record) -> list[Record]:
    """The open tasks that name it as their parent, and those it handed work to and did not take back."""
    own = state.find("task", is_open=True, parent_task_id=task.id)
    known = {task.id, *(one.id for one in own)}
    return own + [one for one in handed(state, task, "child", "task") if one.id not in known]


def handed(state: State, task: Record, edge: str, kind: str) -> list[Record]:
    """The open subjects at the other end of the edges of a kind that a task has drawn and not taken back."""
    edges = (one.data for one in state.find("edge", task_id=task.id))
    held = [one["target_id"] for one in edges if one["kind"] == edge and one["status"] != "removed"]
    return [found for found in (state.get(kind, target) for target in held) if found and found.open]


def create_task(state: State, request: Request) -> Decision:
    known = state.get("task", request.get("task_id"))
    if known and known.known:
        raise NoOp(**answer(state, known))
    ids = _place(state, request)
    ids["task_id"] = request.get("task_id") or state.new_id("task")
    said = only(request, *_META, "visibility", "idempotency_key")
    yield Draft("task.created", ids, {**said, "owner": request.get("owner", "caller")})
    yield Draft("task.accepted", ids, {"reason": "The runtime has room for it."})
    return answer(state, state.get("task", ids["task_id"]))


def _place(state: State, request: Request) -> dict[str, Any]:
    """Where a task belongs: its session and thread, and the tree of its parent."""
    session, thread = request.get("session_id"), request.get("thread_id")
    ids: dict[str, Any] = {}
    if parent_id := request.get("parent_task_id"):
        parent = state.need("task", parent_id)
        if parent.state == "cancelling" or parent.state in ENDED:
            raise CommandRejected(
                "parent_ending", "No child work is added to a task that ends.", category="wrong_state"
            )
        ids |= {"parent_task_id": parent.id, "root_task_id": parent.scope.get("root_task_id", parent.id)}
        session, thread = session or parent.session, thread or parent.thread
    if thread:
        session = session or state.need("thread", thread).session
        state.need("thread", thread, session_id=session)
    if session is None:
        raise CommandRejected(
            "session_required", "Name the session, thread or parent task.", category="invalid_request"
        )
    state.need("session", session)
    return {"session_id": session, "thread_id": thread, **ids}


def update_task(state: State, request: Request) -> Decision:
    task = state.need("task", request["task_id"])
    said = {name: request[name] for name in (*_META, "visibility") if name in request}
    changed = {name: value for name, value in said.items() if task.data.get(name) != value}
    if not changed:
        raise NoOp(**answer(state, task))
    yield about(task, "task.updated", {**changed, "changed": sorted(changed)})
    return answer(state, task)


def start_task(state: State, request: Request) -> Decision:
    """Begins an attempt, and the task where it does not run yet (CTL-15)."""
    task = state.need("task", request["task_id"])
    if open_attempts(state, task) and task.data.get("parallel_attempts") is not True:
        raise NoOp(**answer(state, task, run_id=task.data["current_run_id"]))
    if thread := request.get("thread_id"):
        state.need("thread", thread, session_id=task.session)
    run_id = _new_run(state, request)
    worker = request.get("worker") or {"worker_id": f"worker_{run_id}", "kind": "thread"}
    if task.state != "running":
        yield about(task, "task.started", {"run_id": run_id, "worker": worker}, run_id=run_id)
    yield from attempt(state, task, run_id, worker, request.get("environment"))
    return answer(state, task, run_id=run_id)


def _new_run(state: State, request: Request) -> str:
    run_id = request.get("run_id")
    if run_id and state.state("attempt", run_id) != "none":
        raise CommandRejected(
            "run_id_taken", "An attempt has that id; attempts are never repeated.", category="conflict"
        )
    return run_id or state.new_id("run")


def attempt(
    state: State, task: Record, run_id: str, worker: Any, environment: Any = None, prior: str | None = None
) -> Decision:
    count = task.data.get("attempts", 0) + 1
    said = {"attempt_count": count, "worker": worker, "retry_policy": {"max_attempts": 5}, "prior_run_id": prior}
    draft = about(task, "task.attempt.started", said, run_id=run_id)
    beside = {"execution_environment": environment} if environment else {}
    yield Draft(draft.type, draft.ids, draft.payload, beside)


def append_task_progress(state: State, request: Request) -> Decision:
    task = state.need("task", request["task_id"])
    said = {**request["progress"], **only(request, "output_refs", "counters", "delivery_state")}
    yield about(task, "task.progress", said, run_id=task.data.get("current_run_id"))
    return answer(state, task)


def pause_task(state: State, request: Request) -> Decision:
    task = state.need("task", request["task_id"])
    if task.state == "paused":
        raise NoOp(**answer(state, task))
    said = {"reason": request["reason"], "paused_by": "caller"}
    yield about(task, "task.paused", said)
    if request.get("propagation") == "children":
        for child in (one for one in children(state, task) if one.state in {"accepted", "running", "queued"}):
            yield about(child, "task.paused", said)
    return answer(state, task)


def resume_task(state: State, request: Request) -> Decision:
    """Goes on with a task; it opens no attempt (CTL-18), and overrides no question that is open (ACT-4)."""
    task = state.need("task", request["task_id"])
    if task.state == "running":
        raise NoOp(**answer(state, task))
    if state.pending(task_id=task.id):
        raise CommandRejected("action_pending", "The task waits for a decision.", category="wrong_state")
    said = {"reason": request["reason"], "resumed_by": "caller"}
    yield about(task, "task.resumed", said)
    if request.get("propagation") == "children":
        for child in (one for one in children(state, task) if one.state == "paused"):
            yield about(child, "task.resumed", said)
    return answer(state, task)


def retry_task(state: State, request: Request) -> Decision:
    """Opens another attempt; those before it stay as they are (CTL-20)."""
    task = state.need("task", request["task_id"])
    if open_attempts(state, task):
        raise CommandRejected("attempt_running", "An attempt is still running.", category="wrong_state")
    trigger = request.get("trigger") or _TRIGGERS.get(task.state, "failure")
    prior = state.get("attempt", task.data.get("current_run_id"))
    if trigger != "user_rerun" and prior and prior.data.get("retryable") is False:
        raise CommandRejected(
            "not_retryable", "The last attempt said that trying again cannot help.", category="policy"
        )
    run_id, prior_id = _new_run(state, request), prior.id if prior else None
    said = {"trigger": trigger, "reason": request["reason"], "prior_run_id": prior_id, "next_run_id": run_id}
    yield about(task, "task.retrying", said)
    worker = {"worker_id": f"worker_{run_id}", "kind": "thread"}
    yield from attempt(state, task, run_id, worker, prior=prior_id)
    return answer(state, task, run_id=run_id)


def get_task(state: State, request: Request) -> Decision:
    task = state.need("task", request["task_id"])
    return {"task": entries.task(state, task)}
    yield  # a decision is a generator, also one that writes nothing


def list_tasks(state: State, request: Request) -> Decision:
    """A page of the tasks asked for, in the order in which they were first mentioned (CTL-23)."""
    session, thread = _listed(state, request)
    where = {"session_id": session} | ({"thread_id": thread} if thread else {})
    if parent := request.get("parent_task_id"):
        where["parent_task_id"] = state.need("task", parent).id
    wanted = set(request.get("statuses") or ())
    found = [one for one in state.find("task", **where) if one.known and (not wanted or one.state in wanted)]
    after = int(request["cursor"]) if request.get("cursor", "").isdecimal() else 0
    rest = [one for one in found if one.ordinal > after]
    page = rest[: request.get("limit") or len(rest)]
    cursor = {"cursor": str(page[-1].ordinal)} if page and len(page) < len(rest) else {}
    return {"snapshot": snapshot(state, "task_snapshot", session, thread, tasks=page), **cursor}
    yield  # a decision is a generator, also one that writes nothing


def _listed(state: State, request: Request) -> tuple[str, str | None]:
    thread, session = request.get("thread_id"), request.get("session_id")
    if thread:
        session = state.need("thread", thread, session_id=session).session
    elif parent := request.get("parent_task_id"):
        session = state.need("task", parent, session_id=session).session
    if session is None:
        raise CommandRejected(
            "session_required", "Name the session, thread or parent task.", category="invalid_request"
        )
    return state.need("session", session).id, thread
