"""`subagent_job_summary` (19.17): child agents and jobs."""

from __future__ import annotations

from typing import Any

from reference_runtime.contract import copied
from reference_runtime.facts.record import Record
from reference_runtime.facts.unit import Unit
from reference_runtime.projections import entries

_STATES = ("pending", "running", "completed", "failed", "cancelled", "reported")


def _progress(record: Record) -> Any:
    """The counts last told; counts that nobody told are counted from the items."""
    counts = record.data.get("counts", {})
    counted = {state: counts.get(state, 0) for state in _STATES}
    return record.data.get("progress", {**counted, "total": sum(counted.values())})


def _job(record: Record) -> Any:
    return entries.entry("job", record, job_id=record.id, progress=_progress(record))


VIEWS = {
    "subagent": entries.subagent,
    "job": lambda record: [_job(record), record.data.get("assigned_by_items")] if record.known else None,
    "job_item": entries.job_item,
}


def job(unit: Unit, record: Record) -> dict[str, Any]:
    """A job with its items."""
    items = [one for one in unit.find("job_item", job_id=record.id) if one.known]
    threads = [*record.data.get("assigned_thread_ids", ()), *record.data.get("assigned_by_items", ())]
    return entries.entry(
        "job",
        record,
        job_id=record.id,
        items=[entries.job_item(one) for one in items],
        progress=_progress(record),
        assigned_thread_ids=list(dict.fromkeys(threads)),
    )


def jobs_of(unit: Unit, thread: str) -> list[Record]:
    """Jobs told with a thread, or with a task of it, however late the task was told to be there."""
    found = unit.find("job", thread_id=thread)
    found += [job for task in unit.find("task", thread_id=thread) for job in unit.find("job", task_id=task.id)]
    return sorted({job.id: job for job in found}.values(), key=lambda job: job.ordinal)


def build(unit: Unit, session: str, thread: str | None = None, **where: str) -> dict[str, Any]:
    """The children and jobs of a session or thread; `where` limits them to what was told with an id."""
    asked = {"session_id": session} | ({"thread_id": thread} if thread else {}) | where
    children = [shown for one in unit.find("subagent", **asked) if (shown := entries.subagent(one))]
    told = jobs_of(unit, thread) if thread and not where else unit.find("job", **asked)
    jobs = [job(unit, one) for one in told if one.known]
    edges = [edge for child in children for edge in _edges(child)]
    return {
        "subagents": children,
        "graph": {
            "nodes": list(dict.fromkeys(end for e in edges for end in (e["from_id"], e["to_id"]))),
            "edges": edges,
        },
        "jobs": jobs,
        "assigned_thread_ids": list(dict.fromkeys(one for entry in jobs for one in entry["assigned_thread_ids"])),
        "recoverable_ids": [child["subagent_id"] for child in children if child.get("recoverable") is True],
    }


def _edges(child: dict[str, Any]) -> list[dict[str, Any]]:
    ends = [(child.get("parent_task_id", child.get("parent_thread_id")), "spawned_subagent", child["subagent_id"])]
    if "child_thread_id" in child:
        ends.append((child["subagent_id"], "assigned_thread", child["child_thread_id"]))
    told = [end for end in ends if isinstance(end[0], str) and isinstance(end[2], str)]
    return [copied("graph_edge", {"from_id": f, "kind": k, "to_id": t, "status": "active"}) for f, k, t in told]
