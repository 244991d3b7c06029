"""The thirteen read models by name, and what each may be limited to; words that those share who read them."""

from __future__ import annotations

BOTH = ("session", "thread")
ANYWHERE = (*BOTH, "turn")
LIMITS: dict[str, tuple[str, ...]] = {
    "session_snapshot": ("session",),
    "thread_read_model": ("thread",),
    "tool_inventory_snapshot": ANYWHERE,
    "queue_snapshot": ("thread",),
    "task_snapshot": BOTH,
    "context_boundary_snapshot": ("thread",),
    "artifact_checkpoint_summary": BOTH,
    "evidence_summary": BOTH,
    "permission_sandbox_summary": BOTH,
    "execution_environment_snapshot": ANYWHERE,
    "routing_limit_summary": ANYWHERE,
    "subagent_job_summary": BOTH,
    "channel_summary": ("session",),
}
FAILED = ("failed", "denied", "timed_out")
"""States of a call that has failed."""
