"""The thirteen read models by name: who builds each, and what it may be limited to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from validator.replay.readmodels.agent_runtime import subagents, task_board
from validator.replay.readmodels.agent_runtime.artifacts import Artifacts
from validator.replay.readmodels.agent_runtime.channels import Channels
from validator.replay.readmodels.agent_runtime.context import Context, History
from validator.replay.readmodels.agent_runtime.environment import Environment, Processes
from validator.replay.readmodels.agent_runtime.evidence import Evidence, Outputs
from validator.replay.readmodels.agent_runtime.facts import Collector, Facts
from validator.replay.readmodels.agent_runtime.hooks import Hooks
from validator.replay.readmodels.agent_runtime.incidents import Incidents
from validator.replay.readmodels.agent_runtime.permissions import Actions, Permissions
from validator.replay.readmodels.agent_runtime.queue import Queues
from validator.replay.readmodels.agent_runtime.routing import Routing
from validator.replay.readmodels.agent_runtime.scope import Scope
from validator.replay.readmodels.agent_runtime.session import Session, Threads
from validator.replay.readmodels.agent_runtime.subagents import Jobs, Subagents
from validator.replay.readmodels.agent_runtime.tasks import Tasks
from validator.replay.readmodels.agent_runtime.tools import Calls, Catalogues
from validator.replay.readmodels.agent_runtime.turns import Turns

BOTH = ("session", "thread")
ANYWHERE = (*BOTH, "turn")
COLLECTORS: tuple[type[Collector], ...] = (
    Turns,
    Calls,
    Catalogues,
    Hooks,
    Actions,
    Permissions,
    Processes,
    Environment,
    Queues,
    Context,
    History,
    Artifacts,
    Evidence,
    Outputs,
    Routing,
    Subagents,
    Jobs,
    Channels,
    Tasks,
    Incidents,
    Session,
    Threads,
)


Build = Callable[[Facts, Scope], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Model:
    """One read model: its parts, and whether it can speak of a session, a thread or a turn."""

    limits: tuple[str, ...]
    parts: tuple[Build, ...]
    exists: Callable[[Facts, Scope], bool] = lambda facts, scope: True

    def build(self, facts: Facts, scope: Scope) -> dict[str, Any] | None:
        """The document without its head; None when no event fed it."""
        if not self.exists(facts, scope):
            return None
        parts = [part(facts, scope) for part in self.parts]
        return None if None in parts else {name: value for part in parts for name, value in (part or {}).items()}


def _by(kind: type[Any], *methods: str) -> tuple[Build, ...]:
    return tuple(functools.partial(_ask, kind, method) for method in methods or ("build",))


def _ask(kind: type[Any], method: str, facts: Facts, scope: Scope) -> dict[str, Any] | None:
    return getattr(facts.of(kind), method)(scope)


THREAD_PARTS = ("head", "turns", "waiting", "worries", "tool_calls", "processes", "tasks", "results")
MODELS: dict[str, Model] = {
    "session_snapshot": Model(("session",), _by(Session, "shell", "threads", "recent", "work", "results")),
    "thread_read_model": Model(
        ("thread",), _by(Threads, *THREAD_PARTS), lambda facts, scope: facts.of(Threads).exists(scope)
    ),
    "tool_inventory_snapshot": Model(ANYWHERE, _by(Catalogues)),
    "queue_snapshot": Model(("thread",), _by(Queues)),
    "task_snapshot": Model(BOTH, (task_board.build,)),
    "context_boundary_snapshot": Model(("thread",), _by(Context)),
    "artifact_checkpoint_summary": Model(BOTH, _by(Artifacts)),
    "evidence_summary": Model(BOTH, _by(Evidence)),
    "permission_sandbox_summary": Model(BOTH, _by(Permissions)),
    "execution_environment_snapshot": Model(ANYWHERE, _by(Environment)),
    "routing_limit_summary": Model(ANYWHERE, _by(Routing)),
    "subagent_job_summary": Model(BOTH, (subagents.build,)),
    "channel_summary": Model(("session",), _by(Channels)),
}


def limited(model: str, thread: str | None, turn: str | None) -> Scope | None:
    """The scope a model is asked for; None when the model cannot have it."""
    limits = MODELS[model].limits
    if turn is not None and "turn" in limits:
        return Scope(thread, turn)
    if thread is not None and "thread" in limits:
        return Scope(thread)
    return Scope() if "session" in limits else None
