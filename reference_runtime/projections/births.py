"""Which event brings which read model into being (19.4, *Models that nobody fed*)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_INPUTS = {"ask_user", "elicitation", "structured_input"}
_EXACT = {
    "tool.catalog.resolved": ("tool_inventory_snapshot", "permission_sandbox_summary"),
    "queue.changed": ("queue_snapshot",),
    "task.created": ("task_snapshot",),
    "context.resolved": ("context_boundary_snapshot",),
    "context.compaction.started": ("context_boundary_snapshot",),
    "artifact.changed": ("artifact_checkpoint_summary",),
    "evidence.changed": ("evidence_summary",),
    "policy.changed": ("permission_sandbox_summary",),
    "sandbox.applied": ("permission_sandbox_summary", "execution_environment_snapshot"),
    "sandbox.violation": ("permission_sandbox_summary",),
    "process.started": ("execution_environment_snapshot",),
    "task.profile.resolved": ("routing_limit_summary",),
    "limit.changed": ("routing_limit_summary",),
    "rate_limit.hit": ("routing_limit_summary",),
    "subagent.spawned": ("subagent_job_summary",),
    "job.created": ("subagent_job_summary",),
    "channel.connected": ("channel_summary",),
    "channel.resumed": ("channel_summary",),
}
_FAMILIES = {
    "permission": "permission_sandbox_summary",
    "hook": "permission_sandbox_summary",
    "routing": "routing_limit_summary",
    "cost": "routing_limit_summary",
    "quota": "routing_limit_summary",
}
_PER_THREAD = {"queue_snapshot", "context_boundary_snapshot"}

_TELLING = frozenset(("trace_id", "execution_environment"))


def born(kind: str, by_fields: tuple[str, ...], session: str | None, thread: str | None) -> frozenset[tuple[str, str]]:
    """Models, each with its scope, that exist from an event of a type and with some fields on at the latest."""
    found = {("session_snapshot", session), ("thread_read_model", thread)}
    for model in (*_by_type(kind), *by_fields):
        found.add((model, thread if model in _PER_THREAD else session))
    return frozenset((model, scope) for model, scope in found if scope)


def by_fields(event: dict[str, Any]) -> tuple[str, ...]:
    """The models that the fields of an event bring into being, whatever its type does."""
    return () if _TELLING.isdisjoint(event) and event["type"] != "action.required" else tuple(_by_fields(event))


def _by_type(kind: str) -> tuple[str, ...]:
    family = kind.partition(".")[0]
    return (*_EXACT.get(kind, ()), *((_FAMILIES[family],) if family in _FAMILIES else ()))


def _by_fields(event: dict[str, Any]) -> Iterator[str]:
    if isinstance(event.get("trace_id"), str):
        yield "evidence_summary"
    if isinstance(event.get("execution_environment"), dict):
        yield "execution_environment_snapshot"
    if event["type"] == "action.required" and event["payload"].get("action_type") not in _INPUTS:
        yield "permission_sandbox_summary"
