"""create_job, list_jobs, get_job, cancel_job."""

from __future__ import annotations

from typing import Any

from reference_runtime.domain.state import ENDED, Decision, Request, State, about, only
from reference_runtime.domain.subagent import summary
from reference_runtime.errors import CommandRejected, NoOp
from reference_runtime.projections.subagent_job_summary import job as job_entry
from reference_runtime.stamping import Draft
from validator.protocol.honest import known as told


def create_job(state: State, request: Request) -> Decision:
    """Opens a batch with the items given, or with one item per input (CTL-47)."""
    known = state.get("job", request.get("job_id"))
    if known and known.known:
        raise NoOp(job_id=known.id, job=job_entry(state, known))
    task = (
        state.need("task", request["task_id"], session_id=request.get("session_id")) if "task_id" in request else None
    )
    if task and (task.state == "cancelling" or task.state in ENDED):
        raise CommandRejected("task_ending", "A task that ends hands nothing on.", category="wrong_state")
    session = request.get("session_id") or (task.session if task else None)
    if session is None:
        raise CommandRejected("session_required", "Name the session or the task.", category="invalid_request")
    state.need("session", session)
    job_id = request.get("job_id") or state.new_id("job")
    items = _items(state, request, job_id)
    ids = {"session_id": session, "thread_id": task.thread if task else None, "job_id": job_id}
    said = only(request, "input_refs", "output_schema_ref", "max_runtime_ms")
    instruction = state.keep(f"instruction://{job_id}", request["instruction"])
    ids["task_id"] = task.id if task else None
    yield Draft("job.created", ids, {"instruction_ref": instruction, **said, "items": items, "item_count": len(items)})
    return {"job_id": job_id, "job": job_entry(state, state.get("job", job_id))}


def _items(state: State, request: Request, job_id: str) -> list[dict[str, Any]]:
    given = told(request.get("items")) or [{"input_ref": ref} for ref in told(request.get("input_refs")) or ()]
    items = []
    for item in given:
        identity = item.get("job_item_id") or state.new_id("item")
        if state.get("job_item", identity) or any(other["job_item_id"] == identity for other in items):
            raise CommandRejected("item_id_taken", "An item has that id.", category="conflict")
        items.append({"job_item_id": identity, "job_id": job_id, "status": "pending", **only(item, "input_ref")})
    return items


def list_jobs(state: State, request: Request) -> Decision:
    return summary(state, request)
    yield  # a decision is a generator, also one that writes nothing


def get_job(state: State, request: Request) -> Decision:
    return {"job": job_entry(state, state.need("job", request["job_id"]))}
    yield  # a decision is a generator, also one that writes nothing


def cancel_job(state: State, request: Request) -> Decision:
    """Cancels the job, and with it the items that have not ended (CTL-50)."""
    job = state.need("job", request["job_id"])
    if job.state == "cancelled":
        raise NoOp(job_id=job.id, job=job_entry(state, job))
    yield about(job, "job.cancelled", {"reason": request["reason"], "cancelled_by": "caller"})
    return {"job_id": job.id, "job": job_entry(state, job)}
