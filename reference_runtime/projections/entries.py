"""Entries that several read models share (19.5): what is shown of one record."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections.told import Told

Entry = dict[str, Any]
UNRESOLVED = {"pending", "offered"}


def status(record: Record) -> str:
    """The state of the table, or stale while a gap leaves it in doubt."""
    return "stale" if record.data.get("doubted") else record.state


def entry(name: str, record: Record, **more: Any) -> Entry:
    """The declared fields of a record of the contract, as far as they were told."""
    return copied(name, {"status": status(record), **record.data, **more})


def step(record: Record) -> Entry | None:
    if record.data.get("removed"):
        return None
    data = record.data
    title, reference = data.get("title", data.get("tool_name")), data.get("output_ref", data.get("content_ref"))
    return copied("step", {"step_id": record.id, "kind": data.get("kind"), "title": title, "ref": reference})


def turn(record: Record, steps: list[Record] = ()) -> Entry | None:
    if not record.known or record.data.get("removed"):
        return None
    shown = [step(one) for one in steps]
    return entry("turn", record, turn_id=record.id, completed_at=record.data.get("ended_at"), steps=shown)


def tool_call(record: Record) -> Entry | None:
    if not record.known:
        return None
    data = record.data
    policy = data.get("policy_decision", data.get("policy") if isinstance(data.get("policy"), str) else None)
    approved = data.get("approved_by", data.get("asked_by"))
    told = {"tool_call_id": record.id, "policy_decision": policy, "approval_action_id": approved}
    return entry("tool_call", record, hook_run_ids=data.get("hook_run_ids", []), **told)


def failed_call(record: Record) -> bool:
    return status(record) in {"failed", "denied", "timed_out"}


def process(record: Record) -> Entry | None:
    if not record.known:
        return None
    return entry("process", record, process_id=record.id, output_refs=record.data.get("output_refs", []))


def active_process(record: Record) -> Entry | None:
    """A process that has not ended, be it lost."""
    if not record.known or "ended_at" in record.data:
        return None
    return entry("active_process", record, process_id=record.id, output_refs=record.data.get("output_refs", []))


def action(record: Record) -> Entry | None:
    return entry("action", record, action_id=record.id) if record.known else None


def pending_action(record: Record) -> Entry | None:
    if record.state not in UNRESOLVED:
        return None
    return entry("pending_action", record, action_id=record.id)


def attempt(record: Record) -> Entry | None:
    return entry("task_attempt", record, run_id=record.id) if record.known else None


def edge(record: Record) -> Entry:
    return copied("relationship", record.data)


def artifact(record: Record) -> Entry | None:
    return copied("artifact", {"artifact_id": record.id, **record.data}) if record.data.get("told") else None


def task(unit: Unit, record: Record) -> Entry:
    """A task with everything that hangs on it."""
    artifacts, references = _served(unit, "artifact", record), _served(unit, "reference", record)
    return entry(
        "task",
        record,
        task_id=record.id,
        attempts=[attempt(one) for one in unit.find("attempt", task_id=record.id) if one.known],
        relationships=[edge(one) for one in unit.find("edge", task_id=record.id)],
        artifacts=[shown for one in artifacts if (shown := artifact(one))],
        evidence_refs=[one.data["ref"] for one in references],
    )


def task_view(record: Record) -> Entry | None:
    """What changes about a task when it alone changes; when it changed is no change."""
    if not record.known:
        return None
    return {**entry("task", record, task_id=record.id), "updated_at": None, "attempts": None}


TASK = Told(task_view, record="task", but=("task_id", "updated_at", "attempts"))
ATTEMPT = Told(attempt, record="task_attempt", but=("run_id",))


def of_task(view: Any) -> Any:
    """A view of a record that only tasks show."""
    return lambda record: [record.data["tasks"], view(record)] if record.data.get("tasks") else None


def _served(unit: Unit, kind: str, task_record: Record) -> list[Record]:
    """What a task did, of one kind, in the order in which it was first mentioned."""
    links = unit.find(f"task_{kind}", task_id=task_record.id)
    if not links:
        return links
    found = [unit.get(kind, link.data["id"]) for link in links]
    return sorted([one for one in found if one], key=lambda one: one.ordinal)


def subagent(record: Record) -> Entry | None:
    if not record.known:
        return None
    recoverable = True if isinstance(record.data.get("child_thread_id"), str) else None
    recoverable = False if record.state == "closed" else recoverable
    return entry("subagent", record, subagent_id=record.id, recoverable=recoverable)


def job_item(record: Record) -> Entry | None:
    if not record.known:
        return None
    count = record.data.get("attempt_count", record.data.get("starts", 0))
    return entry("job_item", record, job_item_id=record.id, job_id=record.scope.get("job_id"), attempt_count=count)


def hook_run(record: Record) -> Entry | None:
    return entry("hook_run", record, hook_run_id=record.id) if record.known else None


def incident(record: Record) -> Entry | None:
    if record.data.get("cleared"):
        return None
    return copied("incident", {"incident_id": record.id, "status": "active", **record.data})


def reference(record: Record) -> str:
    return record.data["ref"]
