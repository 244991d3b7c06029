"""After a restart: what came back, and what can no longer be proved.

The log and the records survive. What does not is the process that did the work, so work in flight is told as lost, or
as failed where its table has no such word; it is never told as done. A question nobody answered, a turn that waits
for it, a queue, a task that was not being worked on: these were waiting, and wait on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_runtime.domain.state import Decision, State, about, ids_of
from reference_runtime.facts.record import Record
from reference_runtime.service import Runtime
from reference_runtime.stamping import Draft

_REASON = "The process that did the work is gone."
_AT_WORK = {"preparing", "running", "streaming", "retrying"}
_TASKS_AT_WORK = {
    "preparing",
    "running",
    "retrying",
    "cancelling",
    "waiting_input",
    "waiting_permission",
    "waiting_resource",
}


def recover(runtime: Runtime, reason: str = "kill") -> None:
    """Says what the restart left behind, session by session, before any work goes on (ORD-34)."""
    runtime.report(_boot)
    runtime.boot = runtime.store.load("counter", "boot").data["last"]
    runtime.capture.restart(reason, runtime.settings.runtime_id, runtime.state().now)
    for session in runtime.store.find("session", {}, None):
        runtime.report(lambda state, session=session: _tell(state, session.id))


def _boot(state: State) -> Decision:
    state.new_id("boot")
    return
    yield  # a decision is a generator, also one that writes nothing


def _tell(state: State, session: str) -> Decision:
    lost = list(_in_flight(state, session))
    last = state.get("stream", session).data["sequence"]
    said: dict[str, Any] = {"source": "event log", "last_sequence": last, "degraded": bool(lost)}
    said["recovered"] = ["queue", "actions", "tasks", "attempts", "edges", "subagents", "jobs", "channels"]
    if lost:
        said["missing"] = [{"name": "work in flight", "status": "unavailable", "reason": _REASON}]
    yield Draft("history.reconstructed", {"session_id": session}, said)
    yield from _losses(state, session)
    if lost:
        doubt = {
            "model": "session_snapshot",
            "reason": "Rebuilt after a restart.",
            "unavailable_facts": ["work in flight"],
        }
        as_of = state.get("stream", session).data["sequence"]
        yield Draft("snapshot.repaired", {"session_id": session}, {**doubt, "as_of_sequence": as_of})


def _in_flight(state: State, session: str) -> Iterator[Record]:
    """Open work that needed the old process to be alive."""
    where = {"is_open": True, "session_id": session}
    for kind in ("model_request", "process", "hook", "compaction", "rollback", "attempt", "subagent", "channel"):
        yield from state.find(kind, **where)
    yield from (call for call in state.find("tool_call", **where) if call.state != "waiting_permission")
    for kind in ("turn", "task"):
        yield from (record for record in state.find(kind, **where) if record.state in _AT_WORK)
    yield from (job for job in state.find("job", **where) if job.state == "running")


def _losses(state: State, session: str) -> Decision:
    where = {"is_open": True, "session_id": session}
    lost = {"status": "lost", "reason": _REASON}
    for record in state.find("channel", **where):
        confirmed = record.data.get("last_acknowledged_sequence")
        yield about(record, "channel.disconnected", {"reason": _REASON, "last_acknowledged_sequence": confirmed})
    for record in state.find("hook", **where):
        said = {"hook_point": record.data["hook_point"], "reason": _REASON, "failure_behavior": "fail_closed"}
        yield Draft("hook.failed", ids_of(record), said)
    for record in state.find("model_request", **where):
        yield about(record, "model.failed", {**lost, "retryable": True})
    for record in state.find("process", **where):
        yield about(record, "process.failed", {**lost, "failure_category": "transport", "error": _error()})
    for record in state.find("tool_call", **where):
        if record.state != "waiting_permission":
            yield about(record, "tool.failed", {**lost, "error": _error()})
    yield from _stopped(state, session)
    yield from _workers(state, session)
    for record in state.find("turn", **where):
        if record.state in _AT_WORK:
            yield about(record, "turn.failed", {"status": "lost", "reason": "worker_lost", "error": _error()})
            state.edit("plan", record.id).open = False


def _error() -> dict[str, Any]:
    return {"category": "worker_lost", "message": _REASON, "retryable": True, "recovery": "Take it up again."}


def _stopped(state: State, session: str) -> Decision:
    """What has no word for lost ends as failed."""
    for record in state.find("compaction", is_open=True, session_id=session):
        ids = {"session_id": session, "thread_id": record.id}
        yield Draft("context.compaction.failed", ids, {"reason": _REASON, "retryable": True})
    for record in state.find("rollback", is_open=True, session_id=session):
        ids = {"session_id": session, "thread_id": record.scope.get("thread_id")}
        said = {"code": "rollback_cut_off", "message": _REASON, "failed_operation": "rollback"}
        yield Draft("runtime.error", ids, said)


def _workers(state: State, session: str) -> Decision:
    """Attempts, tasks, children and jobs whose worker went with the process."""
    where = {"is_open": True, "session_id": session}
    for record in state.find("attempt", **where):
        said = {"status": "lost", "failure_category": "worker_lost", "retryable": True, "last_error": _error()}
        yield about(record, "task.attempt.failed", said)
        task = state.get("task", record.scope["task_id"])
        if task.state in _TASKS_AT_WORK:
            told = {"reason": _REASON, "worker": record.data.get("worker"), "last_seen_at": record.data["started_at"]}
            yield about(task, "task.lost", told, run_id=record.id)
    for record in state.find("task", **where):
        if record.state in _AT_WORK:  # it was resumed, which opens no attempt (CTL-18)
            unseen = {"honest": "unknown", "reason": "No worker has taken it up since it was resumed."}
            yield about(record, "task.lost", {"reason": _REASON, "last_seen_at": unseen})
    for record in state.find("subagent", **where):
        yield about(record, "subagent.status", {"status": "lost", "reason": _REASON})
    for record in state.find("job", **where):
        if record.state == "running":
            yield from _job(state, record)


def _job(state: State, job: Record) -> Decision:
    for item in state.find("job_item", is_open=True, job_id=job.id):
        if item.state == "running":
            said = {"last_error": _error(), "retryable": True, "attempt_count": item.data.get("attempt_count")}
            yield about(item, "job.item.failed", {**said, "assignment": item.data.get("assignment")})
    yield about(job, "job.failed", {"status": "lost", "reason": _REASON, "error": _error()})
