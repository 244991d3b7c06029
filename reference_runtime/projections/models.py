"""The thirteen read models by name, and which of them belong to a thread."""

from __future__ import annotations

from types import ModuleType

from reference_runtime.projections import (
    artifact_checkpoint_summary,
    channel_summary,
    context_boundary_snapshot,
    evidence_summary,
    execution_environment_snapshot,
    permission_sandbox_summary,
    queue_snapshot,
    routing_limit_summary,
    session_snapshot,
    subagent_job_summary,
    task_snapshot,
    thread_read_model,
    tool_inventory_snapshot,
)

MODELS: dict[str, ModuleType] = {
    "session_snapshot": session_snapshot,
    "thread_read_model": thread_read_model,
    "tool_inventory_snapshot": tool_inventory_snapshot,
    "queue_snapshot": queue_snapshot,
    "task_snapshot": task_snapshot,
    "context_boundary_snapshot": context_boundary_snapshot,
    "artifact_checkpoint_summary": artifact_checkpoint_summary,
    "evidence_summary": evidence_summary,
    "permission_sandbox_summary": permission_sandbox_summary,
    "execution_environment_snapshot": execution_environment_snapshot,
    "routing_limit_summary": routing_limit_summary,
    "subagent_job_summary": subagent_job_summary,
    "channel_summary": channel_summary,
}
THREAD_MODELS = {"thread_read_model", "queue_snapshot", "context_boundary_snapshot"}
PER_THREAD = THREAD_MODELS | {"tool_inventory_snapshot", "task_snapshot", "subagent_job_summary"}
PER_THREAD |= {"execution_environment_snapshot"}
