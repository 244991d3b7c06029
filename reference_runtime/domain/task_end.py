"""cancel_task, complete_task, fail_task, link_tasks, unlink_tasks."""

from __future__ import annotations

from collections.abc import Iterator

from reference_runtime.domain import settle
from reference_runtime.domain.state import ENDED, Decision, Request, State, about, only
from reference_runtime.domain.task import answer, children, handed, open_attempts
from reference_runtime.errors import CommandRejected, NoOp
from reference_runtime.facts.record import Record
from validator.protocol.honest import is_honest

_UNMET = {"failed", "pending", "blocked", "unknown", "unavailable", "stale", None}
_TASK_KINDS = {"parent", "child", "blocks", "blocked_by", "source_task", "superseded_by"}


def cancel_task(state: State, request: Request) -> Decision:
    """Records the wish on the whole tree first, then settles it from the leaves up (CTL-19, ORC-9)."""
    task = state.need("task", request["task_id"])
    if task.state == "cancelled":
        raise NoOp(**answer(state, task))
    propagation = request.get("propagation", "children")
    tree = [task] if propagation == "none" else _tree(state, task)
    wish = {"reason": request["reason"], "requested_by": "caller", "propagation": propagation}
    for one in tree:
        yield about(one, "task.cancel_requested", wish)
    for one in reversed(tree):
        yield from _cancel(state, one, request["reason"])
    return answer(state, task)


def _tree(state: State, task: Record) -> list[Record]:
    """A task and what hangs below it, parents first, each once: edges may lead back."""
    met: dict[str, Record] = {}
    waiting = [task]
    while waiting:
        one = waiting.pop()
        if one.id not in met:
            met[one.id] = one
            waiting += reversed(children(state, one))
    return list(met.values())


def _subagents(state: State, task: Record) -> list[Record]:
    """The open subagents that work for a task: its own, and those it handed work to."""
    own = state.find("subagent", is_open=True, task_id=task.id)
    known = {one.id for one in own}
    return own + [one for one in handed(state, task, "spawned_subagent", "subagent") if one.id not in known]


def _cancel(state: State, task: Record, reason: str) -> Decision:
    where = {"task_id": task.id}
    yield from settle.actions(state, reason, **where)
    yield from settle.permissions(state, reason, **where)
    yield from settle.processes(state, reason, **where)
    for child in _subagents(state, task):
        yield about(child, "subagent.status", {"status": "cancelled", "reason": reason})
    for job in state.find("job", is_open=True, **where):
        yield about(job, "job.cancelled", {"reason": reason, "cancelled_by": "parent"})
    for attempt in open_attempts(state, task):
        error = {"category": "cancelled", "message": reason, "retryable": True, "recovery": "Run the task again."}
        yield about(attempt, "task.attempt.failed", {"status": "cancelled", "last_error": error, "retryable": True})
    yield about(task, "task.cancelled", {"reason": reason, "cancelled_by": "caller"})


def complete_task(state: State, request: Request) -> Decision:
    """Declares a task done, when the facts agree (chapter 22)."""
    task = state.need("task", request["task_id"])
    if task.state == "completed":
        raise NoOp(**answer(state, task))
    for code, fault in _unreconciled(state, task, request):
        raise CommandRejected(code, fault, category="not_reconciled")
    reconciled = request.get("reconciled") is True
    newest = state.get("attempt", task.data.get("current_run_id"))
    if newest and (newest.state == "running" or (newest.state == "lost" and reconciled)):
        said = {"completion_summary": request.get("completion_summary"), "reconciled": reconciled or None}
        yield about(newest, "task.attempt.completed", said)
    names = ("completion_summary", "acceptance", "artifact_ids", "evidence_ids", "delivery_state", "reconciled")
    yield about(task, "task.completed", {**only(request, *names), "declared_by": task.data.get("owner")})
    return answer(state, task)


def _unreconciled(state: State, task: Record, request: Request) -> Iterator[tuple[str, str]]:
    """Everything that stands in the way of a completion."""
    running, newest = open_attempts(state, task), state.get("attempt", task.data.get("current_run_id"))
    if state.pending(task_id=task.id):
        yield "action_pending", "A decision about the task is open."
    if request.get("run_id") and (newest is None or request["run_id"] != newest.id):
        yield "not_the_attempt", "That is not the newest attempt of the task."
    if len(running) > 1 or (running and running != [newest]):
        yield "attempt_running", "Another attempt is still running."
    if newest and newest.state in {"failed", "cancelled", "timed_out"}:
        yield "attempt_failed", "The newest attempt ended badly; try again first."
    if newest and newest.state == "lost" and request.get("reconciled") is not True:
        yield "attempt_lost", "The newest attempt is lost; observe the facts again first."
    if _delegated(state, task):
        yield "children_open", "Work that the task handed on is still open."
    told = request.get("acceptance", None if task.data.get("acceptance") else [])
    if told is None or is_honest(told) or any(one.get("status") in _UNMET for one in told):
        yield "acceptance_unmet", "Not every criterion is said to hold."
    for kind in ("artifact", "evidence"):
        names = request.get(f"{kind}_ids") or []
        if not is_honest(names) and not all(_told(state, kind, name) for name in names):
            yield f"unknown_{kind}", f"Some {kind} that the completion names was never told."


def _delegated(state: State, task: Record) -> bool:
    jobs = state.find("job", is_open=True, task_id=task.id)
    return bool(children(state, task) or _subagents(state, task) or jobs)


def _told(state: State, kind: str, identity: str) -> bool:
    record = state.get(kind, identity)
    return bool(record and record.data.get("told") and not record.data.get("deleted"))


_UNSAID = {
    "retryable": {"honest": "unknown", "reason": "The caller did not say."},
    "recovery": "Ask whoever reported the failure.",
}
"""What a reader of an error needs and a caller may leave out (DONE-5)."""


def fail_task(state: State, request: Request) -> Decision:
    """Settles what is open and ends the task with the error the caller gave (CTL-22)."""
    task, error = state.need("task", request["task_id"]), {**_UNSAID, **request["error"]}
    if task.state == "failed":
        raise NoOp(**answer(state, task))
    running = open_attempts(state, task)
    if request.get("run_id") and request["run_id"] not in {one.id for one in running}:
        raise CommandRejected("not_the_attempt", "That attempt is not running.", category="wrong_state")
    yield from settle.actions(state, "The task failed.", task_id=task.id)
    yield from settle.permissions(state, "The task failed.", task_id=task.id)
    for attempt in running:
        category = {"failure_category": error["category"], "retryable": error.get("retryable")}
        yield about(attempt, "task.attempt.failed", {"status": "failed", "last_error": error, **category})
    yield about(task, "task.failed", {"last_error": error})
    return answer(state, task)


def link_tasks(state: State, request: Request) -> Decision:
    """Draws an edge, as a delegation where it hands work over (CTL-25)."""
    task, edge = state.need("task", request["task_id"]), dict(request["relationship"])
    if edge["kind"] in _TASK_KINDS:
        state.need("task", edge["target_id"])
    elif edge["kind"] == "spawned_subagent":
        state.need("subagent", edge["target_id"])
    known = state.get("edge", f"{task.id}|{edge['kind']}|{edge['target_id']}")
    if known and known.data["status"] != "removed":
        raise NoOp(**answer(state, task))
    edge = {"status": "active", "created_at": state.now, **edge, "updated_at": state.now}
    if edge["kind"] in {"child", "spawned_subagent"}:
        if task.state == "cancelling" or task.state in ENDED:
            raise CommandRejected("task_ending", "A task that ends hands nothing on.", category="wrong_state")
        kind = "task" if edge["kind"] == "child" else "subagent"
        said = {"target_kind": kind, "target_id": edge["target_id"], "relationship": edge}
        yield about(task, "task.delegated", said)
    else:
        yield about(task, "task.dependency.updated", {"operation": "linked", "relationship": edge})
    return answer(state, task)


def unlink_tasks(state: State, request: Request) -> Decision:
    task, edge = state.need("task", request["task_id"]), request["relationship"]
    known = state.get("edge", f"{task.id}|{edge['kind']}|{edge['target_id']}")
    if known is None:
        raise CommandRejected("unknown_edge", "Such an edge was never drawn.", category="not_found")
    if known.data["status"] == "removed":
        raise NoOp(**answer(state, task))
    told = {"kind": known.data["kind"], "target_id": known.data["target_id"], "status": "removed"}
    times = {"created_at": known.data["created_at"], "updated_at": state.now, "reason": request.get("reason")}
    relationship = {name: value for name, value in {**told, **times}.items() if value is not None}
    yield about(task, "task.dependency.updated", {"operation": "unlinked", "relationship": relationship})
    return answer(state, task)
