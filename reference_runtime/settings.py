"""What whoever runs the runtime decides about it: the queue, the tools, the models, the permission mode."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TOOLS: tuple[dict[str, Any], ...] = (
    {
        "tool_name": "read_file",
        "description": "Reads a file of the workspace.",
        "capabilities": ["read", "filesystem"],
        "policy": "allowed",
        "runtime_owner": "local",
        "is_read_only": True,
        "is_concurrency_safe": True,
        "is_destructive": False,
        "interrupt_behavior": "cancel",
    },
    {
        "tool_name": "write_file",
        "description": "Writes a file of the workspace.",
        "capabilities": ["write", "filesystem"],
        "policy": "ask",
        "runtime_owner": "local",
        "is_read_only": False,
        "is_concurrency_safe": False,
        "is_destructive": False,
        "interrupt_behavior": "cancel",
    },
    {
        "tool_name": "shell",
        "description": "Runs a command in the workspace.",
        "capabilities": ["shell", "filesystem"],
        "policy": "ask",
        "runtime_owner": "local",
        "is_read_only": False,
        "is_concurrency_safe": False,
        "is_destructive": True,
        "interrupt_behavior": "cancel",
    },
    {
        "tool_name": "migrate",
        "description": "Moves records; it is never cut off in the middle.",
        "capabilities": ["custom"],
        "policy": "allowed",
        "runtime_owner": "local",
        "is_read_only": False,
        "is_concurrency_safe": False,
        "is_destructive": False,
        "interrupt_behavior": "block",
    },
    {
        "tool_name": "deploy",
        "description": "Publishes the build.",
        "capabilities": ["network"],
        "policy": "denied",
        "runtime_owner": "hosted_connector",
        "is_read_only": False,
        "is_concurrency_safe": False,
        "is_destructive": True,
        "interrupt_behavior": "block",
    },
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Fixed for the life of a runtime."""

    runtime_id: str = "rt_reference"
    queue_policy: str = "queue"
    """queue: a busy thread lets turns wait. reject: it refuses them."""
    mode: str = "default"
    workspace_id: str = "ws_reference"
    tools: tuple[dict[str, Any], ...] = TOOLS
    rules: tuple[dict[str, Any], ...] = ()
    """Permission rules: `id`, `tool`, `match`, `decision` (deny, ask, sandboxed, allow) and `reason`."""
    provider: str = "acme"
    model: str = "acme-large"
    output_budget: int = 64
    """Characters of output that travel in an event; the rest is stored behind a reference."""
    replay_limit: int = 500
    """Events that a peer may have missed and still get again."""
    scripts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Scripted work by name; a turn names its script in its options."""

    def tool(self, name: str) -> dict[str, Any] | None:
        return next((tool for tool in self.tools if tool["tool_name"] == name), None)
